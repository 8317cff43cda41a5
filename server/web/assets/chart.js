// chart.js computes small charts: where points, bars and marks of an axis stand, as numbers and as
// paths of SVG. It is pure. views/parts draws them.

// nice returns a round number that is at least n: 1, 2 or 5 times a power of ten.
export function nice(n) {
  if (!(n > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(n));
  return power * [1, 2, 5, 10].find((m) => m * power >= n * (1 - 1e-9));
}

// scale returns a function from values to pixels.
export function scale(from, to, low, high) {
  const span = to - from || 1;
  return (v) => low + (v - from) / span * (high - low);
}

const round = (n) => Math.round(n * 10) / 10;

// line returns the path of a line through values; a value that is null leaves a gap. Values are at
// equal distances over the width; the height is that of max.
export function line(values, width, height, max = nice(Math.max(0, ...values))) {
  const x = scale(0, Math.max(1, values.length - 1), 0, width), y = scale(0, max, height, 0);
  let d = "", pen = "M";
  values.forEach((v, i) => {
    if (v === null || v === undefined || !Number.isFinite(v)) {
      pen = "M";
      return;
    }
    d += pen + round(x(i)) + " " + round(y(v));
    // A value between two gaps would be invisible: it is a dash, and the only one is a line.
    if (pen === "M" && !Number.isFinite(values[i + 1] ?? NaN)) d += "h" + (values.length === 1 ? width : i + 1 < values.length ? 3 : -3);
    pen = "L";
  });
  return d;
}

// bars returns the rectangles of stacked bars: series is a list of lists of values of equal length.
export function bars(series, width, height, max) {
  const n = series[0]?.length ?? 0;
  const top = max ?? nice(Math.max(0, ...Array.from({ length: n }, (_, i) => series.reduce((s, v) => s + (v[i] || 0), 0))));
  const each = width / Math.max(1, n), gap = each > 4 ? 1 : 0, out = [];
  for (let i = 0; i < n; i++) {
    let at = height;
    series.forEach((values, of) => {
      const v = values[i] || 0;
      if (!(v > 0)) return;
      const h = Math.max(1, v / top * height);
      at -= h;
      out.push({ x: round(i * each), y: round(at), width: round(Math.max(0.5, each - gap)), height: round(h), of, index: i, value: v });
    });
  }
  return { rects: out, max: top };
}
