// test() and before() of tests on machines (machine.js). A failure tells what the units of the machines have logged.
import { before, test } from 'node:test';

// machines: those of the file. A machine that is not booted tells nothing.
export function toldBy(...machines) {
  const told = (work) => async (...given) => {
    try {
      return await work(...given);
    } catch (error) {
      for (const machine of machines) await machine.tell();
      throw error;
    }
  };
  return { test: (name, ...rest) => test(name, ...rest.slice(0, -1), told(rest.at(-1))), before: (work) => before(told(work)) };
}
