// dom.js: Preact, its hooks and htm under one name, and what every view needs of the document.
//
//   html`<p>${text}</p>`      a tree; strings are text, never markup
//   useState, useEffect, …    Preact's hooks
//   color("fail")             the colour of the variable --fail, for canvas
//   announce("3 hits")        says it to a screen reader, politely
//   useSize()                 [ref, width, height] of an element, kept up to date

import { Fragment, h, render } from "./vendor/preact.js";
import {
  useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState,
} from "./vendor/hooks.js";
import htm from "./vendor/htm.js";

export const html = htm.bind(h);
export { Fragment, render, useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState };

/**
 * color returns the value of a custom property as a canvas takes it.
 * @param {string} name without the dashes
 * @returns {string}
 */
export function color(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  probe.hidden = true;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/**
 * announce puts a sentence into the live region of the page.
 * @param {string} sentence
 */
export function announce(sentence) {
  const region = document.getElementById("announced");
  if (region && region.textContent !== sentence) region.textContent = sentence;
}

/**
 * useSize measures an element and redraws its component when the size changes.
 * @returns {[{current: HTMLElement | null}, number, number]}
 */
export function useSize() {
  const ref = useRef(null);
  const [size, set] = useState([0, 0]);
  useLayoutEffect(() => {
    const measure = () => {
      const box = ref.current.getBoundingClientRect();
      set((old) => (old[0] === box.width && old[1] === box.height ? old : [box.width, box.height]));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(ref.current);
    measure();
    return () => observer.disconnect();
  }, []);
  return [ref, size[0], size[1]];
}

/**
 * useTheme redraws a component when the theme changes, and returns a value that differs then. A view
 * that draws on a canvas takes its colours anew.
 * @returns {string}
 */
export function useTheme() {
  const [theme, set] = useState(themeNow);
  useEffect(() => {
    const look = () => set(themeNow());
    const system = matchMedia("(prefers-color-scheme: dark)");
    const observer = new MutationObserver(look);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    system.addEventListener("change", look);
    return () => { observer.disconnect(); system.removeEventListener("change", look); };
  }, []);
  return theme;
}

function themeNow() {
  return document.documentElement.dataset.theme ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
