// From a strategy to answers: what a bot says to each message of the referee.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "schema.h"

namespace client {

// Actions to be applied in this order.
using Plan = std::vector<pb::Action>;

// What a strategy answers to a decision: an index into the legal actions, or a plan.
using Answer = std::variant<std::uint32_t, Plan>;

// Plays one seat of one match.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Answers a decision.
  virtual Answer Choose(const pb::Decision& decision) = 0;

  // Takes note of what happened. Each event of the match comes once, in order, and before the
  // decision that it led to.
  virtual void Observe(const pb::Event& /*event*/) {}
};

// Makes the strategy for a match that begins.
using Factory = std::function<std::unique_ptr<Strategy>(const pb::MatchStarting&)>;

// Keeps the running matches and knows the answer to each message. It does no input, and no output
// but to the log, where rejected choices are told.
class Bot {
 public:
  Bot(std::string name, std::string version, Factory factory);
  Bot(std::string name, std::string version, Factory factory, std::ostream& log);

  // Whether a match is running.
  [[nodiscard]] bool IsPlaying() const { return !seats_.empty(); }

  // How long the running matches wait for a lost stream to come back.
  [[nodiscard]] std::chrono::milliseconds ReconnectTime() const;

  // The first message of a stream.
  [[nodiscard]] pb::PlayRequest Hello() const;

  // The answer to a message; nothing if it needs none or is not known here.
  std::optional<pb::PlayRequest> AnswerTo(const pb::PlayResponse& response);

 private:
  // A running match.
  struct Seat {
    std::unique_ptr<Strategy> strategy;
    std::chrono::milliseconds reconnect;
    std::uint32_t next_event = 1;  // the first that the strategy has not seen

    void Observe(const pb::Update& update);
  };

  pb::PlayRequest Begin(const pb::MatchStarting& starting);
  std::optional<pb::PlayRequest> Update(const pb::Update& update);
  void Welcome(const pb::Welcome& welcome);

  std::string name_;
  std::string version_;
  Factory factory_;
  std::ostream& log_;
  std::unordered_map<std::string, Seat> seats_;
};

}  // namespace client
