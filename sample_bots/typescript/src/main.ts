import { Bot } from "./client/bot.js";
import { main } from "./client/play.js";
import { Greedy } from "./greedy/greedy.js";

const bot = new Bot("greedy-typescript", "1.0.0", (starting) => new Greedy(starting));
process.exit(await main(bot, process.env));
