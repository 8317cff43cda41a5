// ndjson.js: reading answers of lines of JSON, such as GET /v1/objects and POST /v1/verify.

import { read } from "./api.js";
import { useEffect, useReducer, useRef } from "./dom.js";

/**
 * lines yields the values of an answer, several at a time as they come in.
 * @param {string} path
 * @param {{method?: string, body?: string, signal?: AbortSignal}} [o]
 */
export async function* lines(path, o = {}) {
  const response = await read(path, { ...o, accept: "application/x-ndjson" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const text = rest + (value ?? "");
      const end = done ? text.length : text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      const batch = text.slice(0, end).split("\n").filter((l) => l.trim() !== "").map((l) => JSON.parse(l));
      if (batch.length) yield batch;
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * useLines folds the lines of an answer while a component is shown, and redraws it at most once a
 * frame: {value, error, done}. path null asks nothing.
 * @param {string | null} path
 * @param {() => any} begin makes the value that lines are added to
 * @param {(value: any, line: any) => void} add
 */
export function useLines(path, begin, add) {
  const [, redraw] = useReducer((n) => n + 1, 0);
  const state = useRef({});
  const key = path ?? "";
  if (state.current.key !== key) state.current = { key, value: begin(), error: undefined, done: path === null, again: 0 };
  const s = state.current;
  useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    let frame = 0;
    const draw = () => { frame ||= requestAnimationFrame(() => { frame = 0; redraw(); }); };
    (async () => {
      for await (const batch of lines(path, { signal: abort.signal })) {
        for (const l of batch) add(s.value, l);
        draw();
        await new Promise((r) => setTimeout(r, 0)); // let the page answer between batches
      }
      s.done = true;
      draw();
    })().catch((error) => { if (!abort.signal.aborted) { s.error = error; s.done = true; draw(); } });
    return () => { abort.abort(); cancelAnimationFrame(frame); };
  }, [key]);
  return s;
}
