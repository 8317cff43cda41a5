// theme.js runs before anything is drawn, so that a chosen theme does not flash. "auto" is the
// system's. It is a classic script: a module would run after the first paint.
(function () {
  try {
    const chosen = localStorage.getItem("recount.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* storage is blocked: the system's theme */ }
})();
