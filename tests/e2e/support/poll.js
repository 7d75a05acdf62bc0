// Polls until probe returns a truthy value, and returns it. Tests use this instead of fixed pauses. The end is that of a
// machine that many others use, too.
export async function poll(what, probe, seconds = 240) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}
