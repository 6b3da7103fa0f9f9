// Light or dark: as JupyterLab is, where the page is a part of that, and else as the system is.

/** Give an element the theme, and `redraw` whenever there is another one. */
export function followTheme(root, redraw) {
  const isSystemDark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    const theme = themeOf(document.body.dataset.jpThemeLight, isSystemDark.matches);
    if (root.dataset.theme === theme) return;
    root.dataset.theme = theme;
    redraw();
  };
  isSystemDark.addEventListener("change", follow);
  const attributeFilter = ["data-jp-theme-light"];
  new MutationObserver(follow).observe(document.body, { attributes: true, attributeFilter });
  follow();
}

/**
 * @param {string|undefined} isJupyterLight what JupyterLab says of its theme, "true" or "false"
 * @param {boolean} isSystemDark
 */
export function themeOf(isJupyterLight, isSystemDark) {
  const isDark = isJupyterLight === undefined ? isSystemDark : isJupyterLight === "false";
  return isDark ? "dark" : "light";
}
