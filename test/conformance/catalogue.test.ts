import { catalogue, scenes } from './catalogue';

const twice = (names: readonly string[]): string[] => names.filter((name, index) => names.indexOf(name) !== index);

it('every case has a sentence of its own', () => {
  expect(twice(catalogue.map(({ id }) => id))).toEqual([]);
});

it('every scene has a name of its own, which begins with its file’s', () => {
  expect(twice(scenes.map(({ name }) => name))).toEqual([]);
  for (const { name } of scenes) {
    const [subject] = name.split('_');
    const file = jest.requireActual<Record<string, readonly { scene: { name: string } }[]>>(`./cases/${subject}`);
    expect(file[subject as string]?.some(({ scene }) => scene.name === name)).toBe(true);
  }
});

it('every line of the law has cases', () => {
  const lines = Array.from({ length: 13 }, (_, index) => `law ${index + 1}`);
  const rules = new Set<string>(catalogue.map(({ rule }) => rule));
  expect(lines.filter((line) => !rules.has(line))).toEqual([]);
});
