// Real decisions with the answers that every language's bot must give.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "greedy/greedy.h"
#include "vectors.pb.h"

namespace {

using google::protobuf::util::MessageDifferencer;

vectors::Vectors ReadVectors() {
  const char* named = std::getenv("RUMMY_VECTORS");
  const std::string file = named == nullptr ? "../vectors/greedy.json" : named;
  std::ifstream stream(file);
  EXPECT_TRUE(stream.is_open()) << file;
  const std::string content(std::istreambuf_iterator<char>(stream), {});
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  vectors::Vectors read;
  const auto status = google::protobuf::util::JsonStringToMessage(content, &read, options);
  EXPECT_TRUE(status.ok()) << file << ": " << status.ToString();
  return read;
}

std::string Short(const std::string& name, const std::string& prefix) {
  return name.substr(prefix.size());
}

// The answer in the form of the vectors.
vectors::Answer Readable(const client::Answer& chosen) {
  vectors::Answer answer;
  if (const auto* index = std::get_if<std::uint32_t>(&chosen)) {
    answer.set_index(*index);
    return answer;
  }
  for (const pb::Action& planned : std::get<client::Plan>(chosen)) {
    vectors::Action& action = *answer.add_actions();
    action.set_type(Short(pb::ActionType_Name(planned.type()), "ACTION_TYPE_"));
    std::vector<int> cards(planned.cards().begin(), planned.cards().end());
    std::sort(cards.begin(), cards.end());
    for (const int card : cards) action.add_cards(Short(pb::Card_Name(card), "CARD_"));
    action.set_meld_id(planned.meld_id());
  }
  return answer;
}

TEST(Greedy, GivesEveryVectorItsAnswer) {
  const vectors::Vectors read = ReadVectors();
  ASSERT_GE(read.decisions_size(), 1000);
  int number = 0;
  for (const vectors::Vector& vector : read.decisions()) {
    ASSERT_LT(vector.rules(), static_cast<unsigned>(read.rules_size()));
    pb::MatchStarting starting;
    const std::string& rules = read.rules(static_cast<int>(vector.rules())).rules();
    ASSERT_TRUE(starting.mutable_rules()->ParseFromString(rules));
    pb::Decision decision;
    ASSERT_TRUE(decision.ParseFromString(vector.decision()));
    const vectors::Answer answer = Readable(greedy::Greedy(starting).Choose(decision));
    EXPECT_TRUE(MessageDifferencer::Equals(answer, vector.answer()))
        << "decision " << number << ": " << vector.about() << "\n got " << answer.ShortDebugString()
        << "\nwant " << vector.answer().ShortDebugString();
    ++number;
  }
}

}  // namespace
