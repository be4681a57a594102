package rummy.bot.client;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import java.util.concurrent.CompletableFuture;
import rummy.referee.v1.Play;
import rummy.referee.v1.Play.PlayRequest;
import rummy.referee.v1.Play.PlayResponse;

/** One stream. Answers are found and sent on the thread that reads: nothing hops. */
final class Session extends ClientCall.Listener<PlayResponse> {
  /** The schema's only method here; its name is read from the schema. */
  private static final MethodDescriptor<PlayRequest, PlayResponse> METHOD =
      MethodDescriptor.<PlayRequest, PlayResponse>newBuilder()
          .setType(MethodType.BIDI_STREAMING)
          .setFullMethodName(
              MethodDescriptor.generateFullMethodName(
                  Play.getDescriptor().findServiceByName("PlayService").getFullName(), "Play"))
          .setRequestMarshaller(ProtoUtils.marshaller(PlayRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(PlayResponse.getDefaultInstance()))
          .build();

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Bot bot;
  private final ClientCall<PlayRequest, PlayResponse> call;
  private final CompletableFuture<End> end = new CompletableFuture<>();
  private boolean wasWelcome;

  /**
   * How a stream ended.
   *
   * @param wasWelcome whether the referee said welcome
   * @param status what it said at last, or what gRPC makes of a lost connection
   */
  record End(boolean wasWelcome, Status status) {}

  private Session(Bot bot, ManagedChannel channel) {
    this.bot = bot;
    this.call = channel.newCall(METHOD, CallOptions.DEFAULT);
  }

  /**
   * Runs a stream to its end.
   *
   * @throws java.util.concurrent.CompletionException the strategy failed, with its exception
   */
  static End run(Bot bot, ManagedChannel channel, String token) {
    Session session = new Session(bot, channel);
    Metadata metadata = new Metadata();
    metadata.put(AUTHORIZATION, "Bearer " + token);
    session.call.start(session, metadata);
    session.call.sendMessage(bot.hello());
    // No message comes before it is asked for, so this thread is done with the bot here.
    session.call.request(1);
    return session.end.join();
  }

  @Override
  public void onMessage(PlayResponse response) {
    try {
      wasWelcome |= response.hasWelcome();
      bot.answer(response).ifPresent(call::sendMessage);
      call.request(1);
    } catch (RuntimeException | Error problem) {
      // gRPC would take it for a lost stream.
      end.completeExceptionally(problem);
    }
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    end.complete(new End(wasWelcome, status));
  }
}
