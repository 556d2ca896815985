/* eslint-disable @typescript-eslint/no-require-imports -- the file of cases is known only when a workflow asks for its graph */

// Every workflow evaluates this file anew, with all it imports, and then runs one graph: so it takes in the one file of
// cases that its graph is in, which a scene's name begins with, and the graph is built when it is asked for.
module.exports = new Proxy(
  {},
  {
    get: (workflows, name) => {
      const subject = typeof name === 'string' ? /^([a-z]+)_/.exec(name)?.[1] : undefined;
      return subject && (workflows[name] ??= workflowOf(subject, name));
    },
  },
);

function workflowOf(subject, name) {
  const { graphWorkflow } = require('abeyance/workflow');
  const { [subject]: cases } = require(`./cases/${subject}`);
  const found = cases.find(({ scene }) => scene.name === name);
  return found && graphWorkflow(found.scene.graph());
}
