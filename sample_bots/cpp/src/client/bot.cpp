#include "client/bot.h"

#include <algorithm>
#include <iostream>
#include <utility>

namespace client {
namespace {

constexpr std::uint32_t kMaxConcurrentMatches = 16;

}  // namespace

Bot::Bot(std::string name, std::string version, Factory factory)
    : Bot(std::move(name), std::move(version), std::move(factory), std::cerr) {}

Bot::Bot(std::string name, std::string version, Factory factory, std::ostream& log)
    : name_(std::move(name)),
      version_(std::move(version)),
      factory_(std::move(factory)),
      log_(log) {}

std::chrono::milliseconds Bot::ReconnectTime() const {
  std::chrono::milliseconds longest{0};
  for (const auto& [id, seat] : seats_) longest = std::max(longest, seat.reconnect);
  return longest;
}

pb::PlayRequest Bot::Hello() const {
  pb::PlayRequest request;
  pb::Hello& hello = *request.mutable_hello();
  hello.set_bot(name_);
  hello.set_version(version_);
  hello.set_max_concurrent_matches(kMaxConcurrentMatches);
  return request;
}

std::optional<pb::PlayRequest> Bot::AnswerTo(const pb::PlayResponse& response) {
  switch (response.message_case()) {
    case pb::PlayResponse::kUpdate:
      return Update(response.update());
    case pb::PlayResponse::kMatchStarting:
      return Begin(response.match_starting());
    case pb::PlayResponse::kMatchEnded:
      seats_.erase(response.match_ended().match_id());
      break;
    case pb::PlayResponse::kPing: {
      pb::PlayRequest request;
      request.mutable_pong()->set_nonce(response.ping().nonce());
      return request;
    }
    case pb::PlayResponse::kRejected:
      log_ << name_ << ": choice rejected: " << response.rejected().text() << "\n";
      break;
    case pb::PlayResponse::kWelcome:
      Welcome(response.welcome());
      break;
    default:  // a pong, or something newer than this bot
      break;
  }
  return std::nullopt;
}

pb::PlayRequest Bot::Begin(const pb::MatchStarting& starting) {
  // After a reconnect it may come again: the strategy then goes on.
  if (!seats_.contains(starting.match_id())) {
    const std::chrono::milliseconds reconnect{starting.time_control().reconnect_ms()};
    seats_.emplace(starting.match_id(), Seat{factory_(starting), reconnect});
  }
  pb::PlayRequest request;
  request.mutable_ready()->set_match_id(starting.match_id());
  return request;
}

std::optional<pb::PlayRequest> Bot::Update(const pb::Update& update) {
  const auto found = seats_.find(update.match_id());
  if (found == seats_.end()) return std::nullopt;
  Seat& seat = found->second;
  seat.Observe(update);
  if (!update.has_decision()) return std::nullopt;

  pb::PlayRequest request;
  pb::Choice& choice = *request.mutable_choice();
  choice.set_match_id(update.match_id());
  choice.set_decision_id(update.decision().decision_id());
  const Answer answer = seat.strategy->Choose(update.decision());
  if (const auto* index = std::get_if<std::uint32_t>(&answer)) {
    choice.set_legal_action_index(*index);
  } else {
    const Plan& plan = std::get<Plan>(answer);
    choice.mutable_actions()->Assign(plan.begin(), plan.end());
  }
  return request;
}

// Shows the events that are new: after a reconnect those of the current deal come again under their
// old numbers.
void Bot::Seat::Observe(const pb::Update& update) {
  std::uint32_t number = update.first_event_number();
  for (const pb::Event& event : update.events()) {
    if (number >= next_event) {
      strategy->Observe(event);
      next_event = number + 1;
    }
    ++number;
  }
}

// Forgets the matches that the new stream does not take over: they have ended meanwhile.
void Bot::Welcome(const pb::Welcome& welcome) {
  const auto& resumed = welcome.resumed_match_ids();
  std::erase_if(seats_, [&](const auto& seat) {
    return std::find(resumed.begin(), resumed.end(), seat.first) == resumed.end();
  });
}

}  // namespace client
