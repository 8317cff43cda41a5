// timeline.js: what a timeline draws, without a document: columns into lanes, a range of time onto
// pixels. Everything is drawn from typed arrays: a frame looks once at each command in view, so that a
// hundred thousand of them take a few milliseconds.
//
//   const model = decode(answer)          the columns of POST /v1/timeline
//   lanesOf(model, most)                  [{name, index: Int32Array}] the busiest people, then the rest
//   bucket(model, lane, from, to, n)      counts and failures of a lane in n columns of pixels
//   nearest(model, lane, at, within)      the command of a lane that is nearest to a time
//   ticks(from, to, most)                 where to write times, and what

/**
 * @typedef {object} Model
 * @property {number} n
 * @property {Float64Array} at milliseconds since 1970
 * @property {Float64Array} took milliseconds; -1 if unknown
 * @property {Int8Array} outcome 0 succeeded, 1 failed, -1 unknown
 * @property {any} raw the answer
 */

/** @returns {Model} */
export function decode(raw) {
  const n = raw.times_ms.length;
  const at = new Float64Array(n);
  let t = n ? Date.parse(raw.start) : 0;
  for (let i = 0; i < n; i++) at[i] = t += raw.times_ms[i];
  return { n, at, took: Float64Array.from(raw.durations_ms), outcome: Int8Array.from(raw.outcomes), raw };
}

/** position is the position of the i-th command. */
export const position = (m, i) => m.raw.partitions[m.raw.shards[i]] + "/" + m.raw.offsets[i];

/** lanesOf has a lane for each of the busiest people, one for all others, and one for deploys. */
export function lanesOf(m, most = 12) {
  const counts = new Array(m.raw.people.length).fill(0);
  for (let i = 0; i < m.n; i++) counts[m.raw.who[i]]++;
  const order = [...counts.keys()].sort((a, b) => counts[b] - counts[a]);
  const laneOf = new Int32Array(counts.length);
  const names = order.slice(0, most).map((p) => m.raw.people[p] || "somebody");
  order.forEach((p, k) => { laneOf[p] = Math.min(k, most); });
  if (order.length > most) names.push(`${order.length - most} others`);
  const lists = names.map(() => []);
  const deploys = [], deploy = m.raw.categories.indexOf("deploy");
  for (let i = 0; i < m.n; i++) {
    lists[laneOf[m.raw.who[i]]].push(i);
    if (m.raw.category[i] === deploy) deploys.push(i);
  }
  const lanes = names.map((name, k) => ({ name, kind: "who", index: Int32Array.from(lists[k]) }));
  if (deploys.length > 0) lanes.push({ name: "deploys", kind: "deploys", index: Int32Array.from(deploys) });
  return lanes;
}

/** first is the place in a lane of the first command at a time or later. */
export function first(m, lane, time) {
  let lo = 0, hi = lane.index.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (m.at[lane.index[mid]] < time) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** bucket counts the commands of a lane by column; its arrays are valid until the next call. */
export function bucket(m, lane, from, to, n) {
  if (bucket.all?.length !== n) bucket.all = new Uint32Array(n), bucket.bad = new Uint32Array(n);
  const { all, bad } = bucket;
  all.fill(0), bad.fill(0);
  const scale = n / (to - from);
  const end = first(m, lane, to);
  let most = 0;
  for (let k = first(m, lane, from); k < end; k++) {
    const i = lane.index[k], x = ((m.at[i] - from) * scale) | 0;
    if (++all[x] > most) most = all[x];
    if (m.outcome[i] === 1) bad[x]++;
  }
  return { all, bad, most };
}

/** nearest is the command of a lane whose start is nearest to a time, -1 if none is within. */
export function nearest(m, lane, time, within) {
  const k = first(m, lane, time);
  let best = -1, distance = within;
  for (const j of [k - 1, k]) {
    if (j < 0 || j >= lane.index.length) continue;
    const i = lane.index[j];
    const d = time >= m.at[i] && time <= m.at[i] + Math.max(m.took[i], 0) ? 0 : Math.abs(m.at[i] - time);
    if (d <= distance) best = i, distance = d;
  }
  return best;
}

const S = 1000, M = 60 * S, H = 60 * M, D = 24 * H;
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, S, 2 * S, 5 * S, 10 * S, 30 * S, M, 2 * M, 5 * M, 10 * M, 30 * M, H, 2 * H, 6 * H, 12 * H, D, 2 * D, 7 * D, 14 * D, 30 * D, 91 * D, 182 * D, 365 * D];

/** ticks are the times to write on the axis, in the zone of the person who looks. */
export function ticks(from, to, most) {
  const step = steps.find((s) => (to - from) / s <= most) ?? 3650 * D;
  const zone = (t) => new Date(t).getTimezoneOffset() * M;
  const out = [];
  for (let t = Math.ceil((from - zone(from)) / step) * step + zone(from); t <= to && out.length < 100; t += step) {
    out.push({ at: t, text: label(new Date(t), step) });
  }
  return out;
}

const two = (n) => String(n).padStart(2, "0");

function label(d, step) {
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  if (step >= D) return day;
  const clock = `${two(d.getHours())}:${two(d.getMinutes())}`;
  if (step >= M) return clock === "00:00" ? day : clock;
  if (step >= S) return `${clock}:${two(d.getSeconds())}`;
  return `${clock}:${two(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, "0")}`;
}
