package rummy.bot.client;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import rummy.referee.v1.Play.Choice;
import rummy.referee.v1.Play.Hello;
import rummy.referee.v1.Play.MatchEnded;
import rummy.referee.v1.Play.MatchStarting;
import rummy.referee.v1.Play.Ping;
import rummy.referee.v1.Play.PlayRequest;
import rummy.referee.v1.Play.PlayResponse;
import rummy.referee.v1.Play.Pong;
import rummy.referee.v1.Play.Ready;
import rummy.referee.v1.Play.Rejected;
import rummy.referee.v1.Play.Update;
import rummy.referee.v1.Play.Welcome;
import rummy.referee.v1.Rummy.Event;

/** Keeps the running matches and knows the answer to each message. It does no input of its own. */
public final class Bot {
  private static final int MAX_CONCURRENT_MATCHES = 16;

  private final String name;
  private final String version;
  private final Function<MatchStarting, Strategy> factory;
  private final PrintStream log;
  private final Map<String, Seat> seats = new HashMap<>();

  /** A running match. */
  private static final class Seat {
    final Strategy strategy;
    final Duration reconnectTime;

    /** Number of the first event that the strategy has not seen. */
    int nextEvent = 1;

    Seat(Strategy strategy, Duration reconnectTime) {
      this.strategy = strategy;
      this.reconnectTime = reconnectTime;
    }

    /** Shows the events that are new: after a reconnect some come again under their old numbers. */
    void observe(Update update) {
      int number = update.getFirstEventNumber();
      for (Event event : update.getEventsList()) {
        if (number >= nextEvent) {
          strategy.observe(event);
          nextEvent = number + 1;
        }
        number++;
      }
    }
  }

  /**
   * Makes a bot without matches.
   *
   * @param name as the referee shall know it, 1 to 64 printable characters
   * @param version at most 64 characters
   * @param factory makes the strategy for a match that begins
   * @param log is told of rejected choices
   */
  public Bot(
      String name, String version, Function<MatchStarting, Strategy> factory, PrintStream log) {
    this.name = name;
    this.version = version;
    this.factory = factory;
    this.log = log;
  }

  /** Tells whether a match is running. */
  public boolean isPlaying() {
    return !seats.isEmpty();
  }

  /** Returns how long the running matches wait for a lost stream to come back. */
  public Duration reconnectTime() {
    return seats.values().stream()
        .map(seat -> seat.reconnectTime)
        .max(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }

  /** Returns the first message of a stream. */
  public PlayRequest hello() {
    Hello.Builder hello =
        Hello.newBuilder()
            .setBot(name)
            .setVersion(version)
            .setMaxConcurrentMatches(MAX_CONCURRENT_MATCHES);
    return PlayRequest.newBuilder().setHello(hello).build();
  }

  /** Returns the answer to a message; none if it needs none or is not known here. */
  public Optional<PlayRequest> answer(PlayResponse response) {
    return switch (response.getMessageCase()) {
      case UPDATE -> update(response.getUpdate());
      case MATCH_STARTING -> matchStarting(response.getMatchStarting());
      case MATCH_ENDED -> matchEnded(response.getMatchEnded());
      case PING -> ping(response.getPing());
      case REJECTED -> rejected(response.getRejected());
      case WELCOME -> welcome(response.getWelcome());
      default -> Optional.empty();
    };
  }

  private Optional<PlayRequest> matchStarting(MatchStarting starting) {
    // After a reconnect it may come again: the strategy then goes on.
    seats.computeIfAbsent(starting.getMatchId(), id -> seat(starting));
    Ready.Builder ready = Ready.newBuilder().setMatchId(starting.getMatchId());
    return Optional.of(PlayRequest.newBuilder().setReady(ready).build());
  }

  private Seat seat(MatchStarting starting) {
    // Numbers without a sign come as Java's, which have one.
    long reconnectMs = Integer.toUnsignedLong(starting.getTimeControl().getReconnectMs());
    return new Seat(factory.apply(starting), Duration.ofMillis(reconnectMs));
  }

  private Optional<PlayRequest> matchEnded(MatchEnded ended) {
    seats.remove(ended.getMatchId());
    return Optional.empty();
  }

  private static Optional<PlayRequest> ping(Ping ping) {
    Pong.Builder pong = Pong.newBuilder().setNonce(ping.getNonce());
    return Optional.of(PlayRequest.newBuilder().setPong(pong).build());
  }

  private Optional<PlayRequest> rejected(Rejected rejected) {
    log.println(name + ": choice rejected: " + rejected.getText());
    return Optional.empty();
  }

  private Optional<PlayRequest> update(Update update) {
    Seat seat = seats.get(update.getMatchId());
    if (seat == null) {
      return Optional.empty();
    }
    seat.observe(update);
    if (!update.hasDecision()) {
      return Optional.empty();
    }
    Choice.Builder choice =
        Choice.newBuilder()
            .setMatchId(update.getMatchId())
            .setDecisionId(update.getDecision().getDecisionId());
    Answer answer = seat.strategy.choose(update.getDecision());
    if (answer instanceof Answer.Plan plan) {
      choice.addAllActions(plan.actions());
    } else if (answer instanceof Answer.Index index) {
      choice.setLegalActionIndex(index.index());
    }
    return Optional.of(PlayRequest.newBuilder().setChoice(choice).build());
  }

  /** Forgets the matches that the new stream does not take over: they have ended meanwhile. */
  private Optional<PlayRequest> welcome(Welcome welcome) {
    seats.keySet().retainAll(welcome.getResumedMatchIdsList());
    return Optional.empty();
  }
}
