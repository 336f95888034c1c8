(() => {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("weft-theme"); } catch { return null; } };
  const shown = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const name = () => { button.textContent = shown() === "dark" ? "Light page" : "Dark page"; };
  if (["light", "dark"].includes(stored())) root.dataset.theme = stored();
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = shown() === "dark" ? "light" : "dark";
    try { localStorage.setItem("weft-theme", root.dataset.theme); } catch { /* private window: lasts as long as the page */ }
    name();
  });
  dark.addEventListener("change", name);
  name();
  let closed = [];
  addEventListener("beforeprint", () => { closed = [...document.querySelectorAll("details:not([open])")]; closed.forEach((d) => { d.open = true; }); });
  addEventListener("afterprint", () => closed.forEach((d) => { d.open = false; }));
  const open = () => { const at = document.getElementById(location.hash.slice(1)); at?.closest("details")?.setAttribute("open", ""); };
  addEventListener("hashchange", open);
  open();
})();
