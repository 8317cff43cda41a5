// live.js: following new commands (server-sent events of GET /v1/intents).
//
//   useLive({cwd: "/src"}, (commands, missed) => …)   calls with what came, at most once a frame
//   follow(path, onBatch, signal)                     the same without a component
//
// EventSource can send no header, so the stream is read with fetch. It resumes after the last id
// that it saw. A backlog is not drawn command by command: between two frames the newest maxBatch
// are kept, and missed says how many were not. A page that nobody sees does not follow: a browser
// opens six connections to a server, and as many forgotten tabs would take them all.

import { read } from "./api.js";
import { useEffect, useRef } from "./dom.js";

const maxBatch = 500;

/**
 * @param {string} path
 * @param {(batch: any[], missed: number) => void} onBatch
 * @param {AbortSignal} signal
 * @param {{lastId: string}} [seen] where to go on, kept up to date
 */
export function follow(path, onBatch, signal, seen = { lastId: "" }) {
  let batch = [], missed = 0, frame = 0;
  const flush = () => {
    frame = 0;
    const [b, m] = [batch, missed];
    batch = [], missed = 0;
    if (!signal.aborted) onBatch(b, m);
  };
  const take = (command) => {
    batch.push(command);
    if (batch.length > 2 * maxBatch) { // drop many at once: splice moves the rest
      missed += batch.length - maxBatch;
      batch = batch.slice(-maxBatch);
    }
    frame ||= requestAnimationFrame(flush);
  };
  return stream(path, take, signal, seen);
}

/**
 * stream calls onData with the data of each event, until the signal, and goes on after the last id that
 * it saw when the connection breaks. It fails if the server refuses.
 * @param {string} path
 * @param {(data: any) => void} onData
 * @param {AbortSignal} signal
 * @param {{lastId: string}} seen
 */
export async function stream(path, onData, signal, seen) {
  while (!signal.aborted) {
    try {
      const response = await read(path, { accept: "text/event-stream", signal, lastId: seen.lastId });
      for await (const { id, data } of events(response.body)) {
        if (signal.aborted) return;
        if (id) seen.lastId = id;
        if (data) onData(JSON.parse(data));
      }
    } catch (err) {
      if (signal.aborted) return;
      if (err.status >= 400 && err.status < 500) throw err; // asking again changes nothing
    }
    await new Promise((r) => setTimeout(r, 2000));
  }
}

/**
 * events yields the events of a stream (HTML, 9.2.6).
 * @param {ReadableStream<Uint8Array>} body
 */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", id = "", data = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line === "") {
          if (id || data) yield { id, data };
          id = data = "";
        } else if (line.startsWith("id:")) id = line.slice(3).trim();
        else if (line.startsWith("data:")) data += (data && "\n") + line.slice(5).replace(/^ /, "");
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * useLive follows commands that pass filters while a component is shown. It returns nothing; a token
 * that may not follow gets onRefused.
 * @param {Record<string, string> | null} filters null follows nothing
 * @param {(batch: any[], missed: number) => void} onBatch
 * @param {(err: Error) => void} [onRefused]
 */
export function useLive(filters, onBatch, onRefused) {
  const latest = useRef(onBatch);
  latest.current = onBatch;
  const query = filters && new URLSearchParams(Object.entries(filters).filter(([, v]) => v)).toString();
  useEffect(() => {
    if (query === null) return undefined;
    const seen = { lastId: "" };
    let abort = null;
    const look = () => {
      if (document.visibilityState === "visible" && !abort) {
        abort = new AbortController();
        follow("/v1/intents?" + query, (b, m) => latest.current(b, m), abort.signal, seen).catch((err) => onRefused?.(err));
      } else if (document.visibilityState !== "visible" && abort) {
        abort.abort();
        abort = null;
      }
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => { document.removeEventListener("visibilitychange", look); abort?.abort(); };
  }, [query]);
}
