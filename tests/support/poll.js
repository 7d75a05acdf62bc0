// Limits of waiting are multiplied by this: an idle machine needs a fraction of them, and a busy one must not fail a
// test (tests/CMakeLists.txt).
export const PATIENCE = Number(process.env.HB_TEST_PATIENCE ?? 1);

// Polls until probe returns a truthy value, and returns it. Tests use this instead of fixed pauses. seconds: on an idle
// machine.
export const poll = (what, probe, seconds = 60) => pollWithin(what, probe, seconds * PATIENCE);

// The same for a test of the limit itself, which is the same on any machine.
export async function pollWithin(what, probe, seconds) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}
