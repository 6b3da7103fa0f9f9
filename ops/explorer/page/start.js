// The page begins.
const given = JSON.parse(document.getElementById("data").textContent);
explorer(document.getElementById("explorer"), given, FUNCTIONS, { isPage: true });
