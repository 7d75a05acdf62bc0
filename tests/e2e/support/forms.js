// The send form: parts of it are folded until they are needed.

// Unfolds the part that the field of this name is in, as a person would, unless it is shown already.
export async function unfold(page, field) {
  const summary = page.locator(`details:not([open]):has([name=${field}]) > summary`);
  if (await summary.isVisible()) await summary.click();
}
