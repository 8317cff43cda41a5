// chartview.js draws small charts of chart.js.
//
//   html`<${Chart} title="requests" unit=${count} at=${times} series=${[{name, values, state}]} kind="bars" />`

import { html, useState } from "./dom.js";
import { when } from "./format.js";
import { bars, line, nice } from "./chart.js";

const width = 300, height = 64;

/**
 * Chart draws series over times. It is a picture with a text that says the same: the last and the
 * highest value of each series; pointing at it shows the values of a time.
 */
export function Chart({ title, series, at, unit, kind = "line", onPick }) {
  const [over, point] = useState(-1);
  const all = series.flatMap((s) => s.values).filter((v) => Number.isFinite(v));
  const stacked = kind === "bars" ? bars(series.map((s) => s.values), width, height) : undefined;
  const max = stacked?.max ?? nice(Math.max(0, ...all));
  const n = at.length, each = width / Math.max(1, n);
  const index = (e) => {
    const box = e.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(n - 1, Math.floor((e.clientX - box.left) / box.width * n)));
  };
  const say = all.length === 0 ? "no values" : series.map((s) => {
    const known = s.values.filter((v) => Number.isFinite(v));
    return `${s.name}: last ${unit(known.at(-1) ?? 0)}, highest ${unit(Math.max(0, ...known))}`;
  }).join("; ");
  const shown = over >= 0 ? `${when(at[over])}: ` + series.map((s) => `${s.name} ${Number.isFinite(s.values[over]) ? unit(s.values[over]) : "–"}`).join(", ") : undefined;
  return html`<figure class="chart">
    <figcaption><span>${title}${series.length > 1 && series.map((s) => html` <span class=${"key is-" + (s.state || "mark")}>${s.name}</span>`)}</span> <span class="dim">${shown ?? `up to ${unit(max)}`}</span></figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label=${`${title}. ${say}`}
      onPointerMove=${(e) => point(index(e))} onPointerLeave=${() => point(-1)} onClick=${onPick && ((e) => onPick(index(e)))}>
      <line class="base" x1="0" x2=${width} y1=${height} y2=${height} /><line class="base" x1="0" x2=${width} y1="0.5" y2="0.5" />
      ${over >= 0 && html`<rect class="over" x=${over * each} y="0" width=${each} height=${height} />`}
      ${stacked ? stacked.rects.map((r) => html`<rect class=${"s " + (series[r.of].state ?? "")} x=${r.x} y=${r.y} width=${r.width} height=${r.height} />`)
        : series.map((s) => html`<path class=${"s " + (s.state ?? "")} d=${line(s.values, width, height, max)} />`)}
    </svg>${n > 0 && html`<div class="ends dim" aria-hidden="true"><span>${short(at[0], at)}</span>${n > 1 && html`<span>${short(at[n - 1], at)}</span>`}</div>`}</figure>`;
}

/** short writes a time of an axis: the day if the axis is of days or has one time, else the time of day. */
function short(t, at) {
  const text = when(t); // 2026-11-20 12:00:00 UTC
  return at.length === 1 || at[1] - at[0] >= 86400e3 ? text.slice(0, 10) : text.slice(11, 16);
}

/** Spark is a line without anything around it, for a cell of a table. */
export function Spark({ values, label }) {
  return html`<svg class="spark" viewBox="0 0 80 16" preserveAspectRatio="none" role="img" aria-label=${label}><path class="s" d=${line(values, 80, 16)} /></svg>`;
}
