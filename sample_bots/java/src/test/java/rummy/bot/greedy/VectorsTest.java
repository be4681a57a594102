package rummy.bot.greedy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import rummy.bot.client.Answer;
import rummy.referee.v1.Play.Decision;
import rummy.referee.v1.Play.MatchStarting;
import rummy.referee.v1.Rummy.Action;
import rummy.referee.v1.Rummy.Card;
import rummy.referee.v1.Rummy.RuleSet;

/** Real decisions with the answers that every language's bot must give. */
final class VectorsTest {
  @Test
  void everyVectorGetsItsAnswer() throws IOException {
    JsonObject vectors = vectors();
    List<RuleSet> rules = new ArrayList<>();
    vectors.getAsJsonArray("rules").forEach(entry -> rules.add(rules(entry.getAsJsonObject())));
    JsonArray decisions = vectors.getAsJsonArray("decisions");
    assertTrue(decisions.size() >= 1000, "only " + decisions.size() + " decisions");
    for (int number = 0; number < decisions.size(); number++) {
      JsonObject entry = decisions.get(number).getAsJsonObject();
      Decision decision = Decision.parseFrom(bytes(entry, "decision"));
      RuleSet played = rules.get(entry.get("rules").getAsInt());
      Greedy bot = new Greedy(MatchStarting.newBuilder().setRules(played).build());
      String about = "decision " + number + ": " + entry.get("about").getAsString();
      assertEquals(entry.get("answer"), json(bot.choose(decision)), about);
    }
  }

  private static JsonObject vectors() throws IOException {
    String file = System.getenv().getOrDefault("RUMMY_VECTORS", "../vectors/greedy.json");
    return JsonParser.parseString(Files.readString(Path.of(file))).getAsJsonObject();
  }

  private static RuleSet rules(JsonObject entry) {
    try {
      return RuleSet.parseFrom(bytes(entry, "rules"));
    } catch (InvalidProtocolBufferException problem) {
      throw new IllegalStateException(problem);
    }
  }

  private static byte[] bytes(JsonObject entry, String name) {
    return Base64.getDecoder().decode(entry.get(name).getAsString());
  }

  /** Returns the bot's answer in the form of the vectors. */
  private static JsonObject json(Answer answer) {
    JsonObject json = new JsonObject();
    if (answer instanceof Answer.Index index) {
      json.addProperty("index", index.index());
    } else if (answer instanceof Answer.Plan plan) {
      JsonArray actions = new JsonArray();
      plan.actions().forEach(action -> actions.add(json(action)));
      json.add("actions", actions);
    }
    return json;
  }

  private static JsonObject json(Action action) {
    JsonObject json = new JsonObject();
    json.addProperty("type", action.getType().name().substring("ACTION_TYPE_".length()));
    JsonArray cards = new JsonArray();
    action.getCardsList().stream()
        .sorted()
        .map(Card::name)
        .forEach(name -> cards.add(name.substring("CARD_".length())));
    json.add("cards", cards);
    if (action.getMeldId() != 0) {
      json.addProperty("meld_id", action.getMeldId());
    }
    return json;
  }
}
