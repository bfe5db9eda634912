import { page } from "./live.js";

page(document.getElementById("live"));
