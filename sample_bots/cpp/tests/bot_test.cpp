// What a bot answers to each message, with a strategy that answers as the test wants.
#include "client/bot.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using google::protobuf::util::MessageDifferencer;
using std::chrono::milliseconds;

// Remembers the seats that drew.
class Recorder : public client::Strategy {
 public:
  Recorder(client::Answer answer, std::vector<unsigned>& seen)
      : answer_(std::move(answer)), seen_(seen) {}

  client::Answer Choose(const pb::Decision& /*decision*/) override { return answer_; }
  void Observe(const pb::Event& event) override { seen_.push_back(event.drew().seat()); }

 private:
  client::Answer answer_;
  std::vector<unsigned>& seen_;
};

class BotTest : public testing::Test {
 protected:
  std::optional<pb::PlayRequest> Begin(const std::string& id) {
    pb::PlayResponse response;
    response.mutable_match_starting()->set_match_id(id);
    response.mutable_match_starting()->mutable_time_control()->set_reconnect_ms(1'500);
    return bot_.AnswerTo(response);
  }

  std::optional<pb::PlayRequest> Decide(const std::string& id, unsigned decision_id) {
    pb::PlayResponse response;
    response.mutable_update()->set_match_id(id);
    response.mutable_update()->mutable_decision()->set_decision_id(decision_id);
    return bot_.AnswerTo(response);
  }

  std::optional<pb::PlayRequest> Draw(const std::string& id, const std::vector<unsigned>& seats) {
    pb::PlayResponse response;
    pb::Update& update = *response.mutable_update();
    update.set_match_id(id);
    update.set_first_event_number(1);
    for (const unsigned seat : seats) update.add_events()->mutable_drew()->set_seat(seat);
    return bot_.AnswerTo(response);
  }

  client::Answer answer_{0U};
  std::vector<unsigned> seen_;
  std::ostringstream log_;
  client::Bot bot_{"recorder", "9",
                   [this](const pb::MatchStarting& /*starting*/) {
                     return std::make_unique<Recorder>(answer_, seen_);
                   },
                   log_};
};

TEST_F(BotTest, SaysHello) {
  pb::PlayRequest wanted;
  wanted.mutable_hello()->set_bot("recorder");
  wanted.mutable_hello()->set_version("9");
  wanted.mutable_hello()->set_max_concurrent_matches(16);
  EXPECT_TRUE(MessageDifferencer::Equals(bot_.Hello(), wanted));
}

TEST_F(BotTest, MatchesComeAndGo) {
  EXPECT_FALSE(bot_.IsPlaying());
  EXPECT_EQ(bot_.ReconnectTime(), milliseconds(0));
  const auto ready = Begin("m");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->ready().match_id(), "m");
  EXPECT_TRUE(bot_.IsPlaying());
  EXPECT_EQ(bot_.ReconnectTime(), milliseconds(1'500));
  pb::PlayResponse ended;
  ended.mutable_match_ended()->set_match_id("m");
  EXPECT_FALSE(bot_.AnswerTo(ended));
  EXPECT_FALSE(bot_.IsPlaying());
}

TEST_F(BotTest, AnswersWithAnIndex) {
  Begin("m");
  const auto request = Decide("m", 7);
  ASSERT_TRUE(request);
  pb::PlayRequest wanted;
  wanted.mutable_choice()->set_match_id("m");
  wanted.mutable_choice()->set_decision_id(7);
  wanted.mutable_choice()->set_legal_action_index(0);
  EXPECT_TRUE(MessageDifferencer::Equals(*request, wanted));
}

TEST_F(BotTest, AnswersWithAPlan) {
  pb::Action discard;
  discard.set_type(pb::ACTION_TYPE_DISCARD);
  discard.add_cards(pb::CARD_AC);
  answer_ = client::Plan{discard};
  Begin("m");
  const auto request = Decide("m", 7);
  ASSERT_TRUE(request);
  pb::PlayRequest wanted;
  wanted.mutable_choice()->set_match_id("m");
  wanted.mutable_choice()->set_decision_id(7);
  *wanted.mutable_choice()->add_actions() = discard;
  EXPECT_TRUE(MessageDifferencer::Equals(*request, wanted));
}

TEST_F(BotTest, EventsComeOnceAndInOrder) {
  Begin("m");
  Draw("m", {0, 1});
  Begin("m");  // the stream was lost
  EXPECT_FALSE(Draw("m", {0, 1, 2}));
  EXPECT_EQ(seen_, (std::vector<unsigned>{0, 1, 2}));
}

TEST_F(BotTest, AnswersPings) {
  const auto nonce = std::numeric_limits<std::uint64_t>::max();
  pb::PlayResponse ping;
  ping.mutable_ping()->set_nonce(nonce);
  const auto request = bot_.AnswerTo(ping);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->pong().nonce(), nonce);
}

TEST_F(BotTest, SkipsWhatItDoesNotKnow) {
  pb::PlayResponse pong;
  pong.mutable_pong()->set_nonce(1);
  EXPECT_FALSE(bot_.AnswerTo(pb::PlayResponse()));
  EXPECT_FALSE(bot_.AnswerTo(pong));
  EXPECT_FALSE(Decide("unknown", 1));
}

TEST_F(BotTest, WhatIsNotResumedIsOver) {
  Begin("a");
  Begin("b");
  pb::PlayResponse welcome;
  for (const std::string id : {"b", "c"}) welcome.mutable_welcome()->add_resumed_match_ids(id);
  EXPECT_FALSE(bot_.AnswerTo(welcome));
  EXPECT_FALSE(Decide("a", 1));
  EXPECT_TRUE(Decide("b", 1));
  EXPECT_FALSE(Decide("c", 1));
}

TEST_F(BotTest, RejectionsAreToldToTheAuthor) {
  pb::PlayResponse rejected;
  rejected.mutable_rejected()->set_text("discard KC: the hand does not hold KC");
  EXPECT_FALSE(bot_.AnswerTo(rejected));
  EXPECT_EQ(log_.str(), "recorder: choice rejected: discard KC: the hand does not hold KC\n");
}

}  // namespace
