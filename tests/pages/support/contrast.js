// The contrast of two colours [red, green, blue] of levels up to 255, as WCAG 2.2 defines it.
function luminance(colour) {
  const [r, g, b] = colour.map((level) => level / 255)
    .map((level) => (level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
