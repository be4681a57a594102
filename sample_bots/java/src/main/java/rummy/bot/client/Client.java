package rummy.bot.client;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The way from a bot to the referee: one stream, any number of matches over it, dialled again when
 * it is lost.
 */
public final class Client {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration FIRST_BACKOFF = Duration.ofMillis(50);
  private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(1);

  /** A stream that ends like this is worth another try; any other answer will not change. */
  private static final Set<Status.Code> PASSING =
      EnumSet.of(
          Status.Code.OK,
          Status.Code.UNAVAILABLE,
          Status.Code.RESOURCE_EXHAUSTED,
          Status.Code.UNKNOWN,
          Status.Code.INTERNAL,
          Status.Code.CANCELLED,
          Status.Code.DEADLINE_EXCEEDED);

  /** Kept here, for a logger that nobody holds forgets its level. */
  private static final Logger GRPC_LOG = Logger.getLogger("io.grpc");

  private final Bot bot;
  private final String address;
  private final String token;
  private final ChannelCredentials trust;

  /** Something to tell the bot's author, and what the process ends with. */
  private static final class BotException extends Exception {
    private static final long serialVersionUID = 1;

    final int exitCode;

    BotException(int exitCode, String message) {
      super(message);
      this.exitCode = exitCode;
    }
  }

  private Client(Bot bot, String address, String token, ChannelCredentials trust) {
    this.bot = bot;
    this.address = address;
    this.token = token;
    this.trust = trust;
  }

  /**
   * Plays with the address and the token of the environment.
   *
   * @return the exit code: 0 the referee has ended the stream, 1 it refused or could not be
   *     reached, 2 the environment is not right
   */
  public static int run(Bot bot, Map<String, String> environment, PrintStream log) {
    GRPC_LOG.setLevel(Level.OFF); // what matters is in the status
    try {
      String address = environment.getOrDefault("RUMMY_REFEREE", "");
      if (address.isEmpty()) {
        throw new BotException(
            2, "RUMMY_REFEREE must be set: the referee's address, HOST:PORT or unix:PATH");
      }
      ChannelCredentials trust = trusted(environment.getOrDefault("RUMMY_TLS_CA", ""));
      new Client(bot, address, environment.getOrDefault("RUMMY_TOKEN", ""), trust).play();
      return 0;
    } catch (BotException problem) {
      log.println(problem.getMessage());
      return problem.exitCode;
    }
  }

  /** Returns TLS with a PEM file of whom to trust; without a file there is none. */
  private static ChannelCredentials trusted(String file) throws BotException {
    if (file.isEmpty()) {
      return InsecureChannelCredentials.create();
    }
    try {
      byte[] content = Files.readAllBytes(Path.of(file));
      // The builder below would only fail at the first stream.
      if (certificates(content).isEmpty()) {
        throw new CertificateException("the file is empty");
      }
      return TlsChannelCredentials.newBuilder()
          .trustManager(new ByteArrayInputStream(content))
          .build();
    } catch (IOException | InvalidPathException problem) {
      String kind = problem.getClass().getSimpleName();
      throw new BotException(2, "RUMMY_TLS_CA: " + file + " cannot be read: " + kind);
    } catch (CertificateException problem) {
      throw new BotException(2, "RUMMY_TLS_CA: " + file + " holds no certificates in PEM form");
    }
  }

  private static Collection<? extends Certificate> certificates(byte[] content)
      throws CertificateException {
    return CertificateFactory.getInstance("X.509")
        .generateCertificates(new ByteArrayInputStream(content));
  }

  /**
   * Keeps a stream to the referee until that ends one cleanly while no match is running.
   *
   * <p>A lost stream is dialled again for ten seconds, or for the reconnect time of the running
   * matches if that is longer.
   */
  private void play() throws BotException {
    long lostAt = System.nanoTime();
    Duration backoff = FIRST_BACKOFF;
    while (true) {
      Session.End end = session();
      Status.Code code = end.status().getCode();
      if (code == Status.Code.OK && !bot.isPlaying()) {
        return;
      }
      if (!PASSING.contains(code)) {
        throw new BotException(1, "the referee at " + address + " refused: " + text(end.status()));
      }
      if (end.wasWelcome()) {
        lostAt = System.nanoTime();
        backoff = FIRST_BACKOFF;
      }
      Duration tried = Duration.ofNanos(System.nanoTime() - lostAt);
      if (tried.plus(backoff).compareTo(longer(PATIENCE, bot.reconnectTime())) > 0) {
        String seconds = String.format(Locale.ROOT, "%.1f", tried.toMillis() / 1000.0);
        throw new BotException(
            1, "no referee at " + address + " in " + seconds + " s: " + text(end.status()));
      }
      pause(backoff);
      backoff = shorter(backoff.multipliedBy(2), LONGEST_BACKOFF);
    }
  }

  /**
   * Runs one stream. Each has a connection of its own: a shared one would sit out pauses that it
   * chooses by itself before it dials again.
   */
  private Session.End session() throws BotException {
    ManagedChannel channel = channel();
    try {
      return Session.run(bot, channel, token);
    } finally {
      channel.shutdownNow();
    }
  }

  private ManagedChannel channel() throws BotException {
    try {
      ManagedChannelBuilder<?> builder = Grpc.newChannelBuilder(target(), trust);
      if (isUnix()) {
        // Some servers refuse the path that stands there otherwise.
        builder.overrideAuthority("localhost");
      }
      return builder.directExecutor().disableRetry().build();
    } catch (IllegalArgumentException problem) {
      throw new BotException(
          2, "RUMMY_REFEREE must be HOST:PORT or unix:PATH, and it is " + address);
    }
  }

  private boolean isUnix() {
    return address.startsWith("unix:");
  }

  /** Returns the address as gRPC for Java takes it: a path must be absolute and escaped. */
  private String target() {
    if (!isUnix()) {
      return address;
    }
    Path path = Path.of(address.substring("unix:".length())).toAbsolutePath();
    return "unix://" + path.toUri().getRawPath();
  }

  private static String text(Status status) {
    StringBuilder text = new StringBuilder(status.getCode().name());
    text.append(": ").append(firstLine(status.getDescription()));
    if (status.getCause() != null) {
      text.append(": ").append(firstLine(status.getCause().getMessage()));
    }
    return text.toString();
  }

  private static String firstLine(String text) {
    return text == null ? "no details" : text.lines().findFirst().orElse("");
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  private static void pause(Duration time) {
    try {
      Thread.sleep(time.toMillis());
    } catch (InterruptedException problem) {
      throw new IllegalStateException("nobody interrupts this thread", problem);
    }
  }
}
