/** The activities of the floor: the same work as the graphs' nodes. */
export const floorActivities = {
  step_one: async (_state: object): Promise<object> => ({}),
  place_order: async (
    _state: object,
    answers: readonly unknown[],
  ): Promise<{ question: object } | { approved: unknown }> =>
    answers.length > 0 ? { approved: answers[0] } : { question: { question: 'approve?' } },
  increment: async ({ n }: { n: number }): Promise<{ n: number }> => ({ n: n + 1 }),
};
