package rummy.bot;

import rummy.bot.client.Bot;
import rummy.bot.client.Client;
import rummy.bot.greedy.Greedy;

/** Plays the greedy strategy for whatever referee the environment names. */
public final class Main {
  private Main() {}

  /**
   * Runs the bot and ends the process.
   *
   * @param arguments none are read
   */
  public static void main(String[] arguments) {
    // A signal makes the Java machine run its hooks: for a bot that is no failure.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
    int code = 1;
    try {
      Bot bot = new Bot("greedy-java", "1.0.0", Greedy::new, System.err);
      code = Client.run(bot, System.getenv(), System.err);
    } catch (RuntimeException | Error problem) {
      problem.printStackTrace(System.err);
    }
    // Not exit: that would run the hook.
    Runtime.getRuntime().halt(code);
  }
}
