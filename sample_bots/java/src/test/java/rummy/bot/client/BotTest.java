package rummy.bot.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import rummy.referee.v1.Play.Choice;
import rummy.referee.v1.Play.Decision;
import rummy.referee.v1.Play.MatchEnded;
import rummy.referee.v1.Play.MatchStarting;
import rummy.referee.v1.Play.PlayRequest;
import rummy.referee.v1.Play.PlayResponse;
import rummy.referee.v1.Play.Pong;
import rummy.referee.v1.Play.Rejected;
import rummy.referee.v1.Play.TimeControl;
import rummy.referee.v1.Play.Update;
import rummy.referee.v1.Play.Welcome;
import rummy.referee.v1.Rummy.Action;
import rummy.referee.v1.Rummy.ActionType;
import rummy.referee.v1.Rummy.Card;
import rummy.referee.v1.Rummy.Drew;
import rummy.referee.v1.Rummy.Event;

final class BotTest {
  private final List<Integer> seen = new ArrayList<>();
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private final Bot bot = bot(new Answer.Index(0));

  /** Returns a bot that always answers the same, and notes the seats in the events. */
  private Bot bot(Answer answer) {
    Strategy recorder =
        new Strategy() {
          @Override
          public Answer choose(Decision decision) {
            return answer;
          }

          @Override
          public void observe(Event event) {
            seen.add(event.getDrew().getSeat());
          }
        };
    return new Bot("recorder", "9", starting -> recorder, new PrintStream(log, true, UTF_8));
  }

  private static PlayResponse starting(String id) {
    TimeControl clock = TimeControl.newBuilder().setReconnectMs(1500).build();
    return PlayResponse.newBuilder()
        .setMatchStarting(MatchStarting.newBuilder().setMatchId(id).setTimeControl(clock))
        .build();
  }

  private static PlayResponse deciding(String id, int number) {
    return PlayResponse.newBuilder()
        .setUpdate(
            Update.newBuilder()
                .setMatchId(id)
                .setDecision(Decision.newBuilder().setDecisionId(number)))
        .build();
  }

  private static PlayResponse drew(int... seats) {
    Update.Builder update = Update.newBuilder().setMatchId("m").setFirstEventNumber(1);
    for (int seat : seats) {
      update.addEvents(Event.newBuilder().setDrew(Drew.newBuilder().setSeat(seat)));
    }
    return PlayResponse.newBuilder().setUpdate(update).build();
  }

  @Test
  void matchesComeAndGo() {
    assertFalse(bot.isPlaying());
    assertEquals(Duration.ZERO, bot.reconnectTime());
    assertEquals("m", bot.answer(starting("m")).orElseThrow().getReady().getMatchId());
    assertTrue(bot.isPlaying());
    assertEquals(Duration.ofMillis(1500), bot.reconnectTime());
    MatchEnded ended = MatchEnded.newBuilder().setMatchId("m").build();
    PlayResponse response = PlayResponse.newBuilder().setMatchEnded(ended).build();
    assertEquals(Optional.empty(), bot.answer(response));
    assertFalse(bot.isPlaying());
  }

  @Test
  void answersWithAnIndex() {
    bot.answer(starting("m"));
    Choice choice = bot.answer(deciding("m", 7)).orElseThrow().getChoice();
    Choice.Builder wanted = Choice.newBuilder().setMatchId("m").setDecisionId(7);
    assertEquals(wanted.setLegalActionIndex(0).build(), choice);
  }

  @Test
  void answersWithAPlan() {
    Action discard =
        Action.newBuilder().setType(ActionType.ACTION_TYPE_DISCARD).addCards(Card.CARD_AC).build();
    Bot planner = bot(new Answer.Plan(List.of(discard)));
    planner.answer(starting("m"));
    Choice choice = planner.answer(deciding("m", 7)).orElseThrow().getChoice();
    Choice.Builder wanted = Choice.newBuilder().setMatchId("m").setDecisionId(7);
    assertEquals(wanted.addActions(discard).build(), choice);
  }

  @Test
  void eventsComeOnceAndInOrder() {
    bot.answer(starting("m"));
    bot.answer(drew(0, 1));
    bot.answer(starting("m")); // the stream was lost
    assertEquals(Optional.empty(), bot.answer(drew(0, 1, 2)));
    assertEquals(List.of(0, 1, 2), seen);
  }

  @Test
  void skipsWhatItDoesNotKnow() {
    PlayResponse pong = PlayResponse.newBuilder().setPong(Pong.getDefaultInstance()).build();
    for (PlayResponse response :
        List.of(PlayResponse.getDefaultInstance(), deciding("unknown", 1), pong)) {
      assertEquals(Optional.empty(), bot.answer(response));
    }
  }

  @Test
  void whatIsNotResumedIsOver() {
    bot.answer(starting("a"));
    bot.answer(starting("b"));
    Welcome.Builder welcome = Welcome.newBuilder().addResumedMatchIds("b").addResumedMatchIds("c");
    bot.answer(PlayResponse.newBuilder().setWelcome(welcome).build());
    assertEquals(Optional.empty(), bot.answer(deciding("a", 1)));
    assertTrue(bot.answer(deciding("b", 1)).isPresent());
    assertEquals(Optional.empty(), bot.answer(deciding("c", 1)));
  }

  @Test
  void rejectionsAreToldToTheAuthor() {
    Rejected.Builder rejected = Rejected.newBuilder().setText("discard KC: the hand has no KC");
    bot.answer(PlayResponse.newBuilder().setRejected(rejected).build());
    String told = log.toString(UTF_8).strip();
    assertEquals("recorder: choice rejected: discard KC: the hand has no KC", told);
  }

  @Test
  void introducesItself() {
    PlayRequest hello = bot.hello();
    assertEquals("recorder", hello.getHello().getBot());
    assertEquals("9", hello.getHello().getVersion());
    assertEquals(16, hello.getHello().getMaxConcurrentMatches());
  }
}
