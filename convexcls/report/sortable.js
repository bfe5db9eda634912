// Tables of class "sortable": a click on a column's title sorts by it, a second click the other way round.
// Without script the tables are simply not sortable.
(function () {
  "use strict";

  function key(row, column) {
    var text = row.cells[column].textContent.trim();
    var number = Number(text.replace("%", ""));
    return text !== "" && !isNaN(number) ? number : text === "-" || text === "" ? null : text;
  }

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null); // what is missing comes last
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  }

  function sort(table, column, button) {
    var head = button.parentNode;
    var down = head.getAttribute("aria-sort") === "ascending";
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows).map(function (row) {
      return { row: row, key: key(row, column) };
    });
    rows.sort(function (a, b) {
      return a.key === null || b.key === null || !down ? compare(a.key, b.key) : compare(b.key, a.key);
    });
    rows.forEach(function (entry) { body.appendChild(entry.row); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) { cell.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }

  Array.prototype.forEach.call(document.querySelectorAll("table.sortable"), function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, column) {
      var button = document.createElement("span"); // browsers do not repeat a row with a <button> on every printed page
      button.setAttribute("role", "button");
      button.tabIndex = 0;
      while (cell.firstChild) button.appendChild(cell.firstChild);
      cell.appendChild(button);
      button.addEventListener("click", function () { sort(table, column, button); });
      button.addEventListener("keydown", function (event) {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sort(table, column, button);
      });
    });
  });
})();
