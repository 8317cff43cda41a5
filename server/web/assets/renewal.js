// renewal.js: asking again while a view is looked at, for what no stream announces.
//
//   const live = useRenewal(answer.reload, 15)   asks every 15 seconds; false while the page is hidden

import { useConnection } from "./api.js";
import { useEffect, useRef, useState } from "./dom.js";

/**
 * useRenewal calls again() every some seconds while the page is visible and the server answers.
 * @param {() => void} again
 * @param {number} seconds 0 asks never
 */
export function useRenewal(again, seconds) {
  const latest = useRef(again);
  latest.current = again;
  const connection = useConnection();
  const [visible, see] = useState(document.visibilityState === "visible");
  useEffect(() => {
    const look = () => see(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  const on = seconds > 0 && visible && connection === "up";
  useEffect(() => {
    if (!on) return undefined;
    const timer = setInterval(() => latest.current(), seconds * 1000);
    return () => clearInterval(timer);
  }, [on, seconds]);
  return on;
}
