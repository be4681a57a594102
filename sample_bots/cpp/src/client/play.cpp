#include "client/play.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "rummy/referee/v1/play.grpc.pb.h"

namespace client {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// How long a referee is looked for when no running match asks for more.
constexpr milliseconds kPatience{10'000};
constexpr milliseconds kFirstBackoff{50};
constexpr milliseconds kLongestBackoff{1'000};

// The environment is not right; the text is for the bot's author.
class EnvironmentError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The referee refused or stayed out of reach; the text is for the bot's author.
class RefusedError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What the environment says.
struct Referee {
  std::string address;
  std::string token;
  std::shared_ptr<grpc::ChannelCredentials> trust;
};

// How a stream ended.
struct End {
  bool was_welcome = false;
  grpc::Status status;
};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Reads a PEM file of whom to trust; without a file there is no TLS.
std::shared_ptr<grpc::ChannelCredentials> Trusted(const std::string& file) {
  if (file.empty()) return grpc::InsecureChannelCredentials();
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    const std::string reason = std::generic_category().message(errno);
    throw EnvironmentError("RUMMY_TLS_CA: " + file + " cannot be read: " + reason);
  }
  grpc::SslCredentialsOptions options;
  std::ostringstream content;
  content << stream.rdbuf();
  options.pem_root_certs = content.str();
  if (options.pem_root_certs.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    throw EnvironmentError("RUMMY_TLS_CA: " + file + " holds no certificate in PEM form");
  }
  return grpc::SslCredentials(options);
}

Referee Named() {
  Referee referee{Variable("RUMMY_REFEREE"), Variable("RUMMY_TOKEN"), nullptr};
  if (referee.address.empty()) {
    throw EnvironmentError(
        "RUMMY_REFEREE must be set: the referee's address, HOST:PORT or unix:PATH");
  }
  const auto is_printable = [](char letter) { return letter >= ' ' && letter <= '~'; };
  if (!std::all_of(referee.token.begin(), referee.token.end(), is_printable)) {
    throw EnvironmentError("RUMMY_TOKEN holds a character that is not printable ASCII");
  }
  referee.trust = Trusted(Variable("RUMMY_TLS_CA"));
  return referee;
}

// Whether a stream that ended like this is worth another try. Any other status is an answer that
// will not change.
bool IsPassing(grpc::StatusCode code) {
  switch (code) {
    case grpc::OK:
    case grpc::UNAVAILABLE:
    case grpc::RESOURCE_EXHAUSTED:
    case grpc::UNKNOWN:
    case grpc::INTERNAL:
    case grpc::CANCELLED:
    case grpc::DEADLINE_EXCEEDED:
      return true;
    default:
      return false;
  }
}

// One line about the end of a stream, with the code's name as gRPC's documents write it.
std::string Text(const grpc::Status& status) {
  static constexpr std::array kNames = {"OK",
                                        "CANCELLED",
                                        "UNKNOWN",
                                        "INVALID_ARGUMENT",
                                        "DEADLINE_EXCEEDED",
                                        "NOT_FOUND",
                                        "ALREADY_EXISTS",
                                        "PERMISSION_DENIED",
                                        "RESOURCE_EXHAUSTED",
                                        "FAILED_PRECONDITION",
                                        "ABORTED",
                                        "OUT_OF_RANGE",
                                        "UNIMPLEMENTED",
                                        "INTERNAL",
                                        "UNAVAILABLE",
                                        "DATA_LOSS",
                                        "UNAUTHENTICATED"};
  const auto code = static_cast<std::size_t>(status.error_code());
  std::string details = status.error_message();
  std::replace(details.begin(), details.end(), '\n', ' ');
  return (code < kNames.size() ? kNames[code] : std::to_string(code)) + ": " + details;
}

// Runs one stream to its end.
//
// The blocking calls of gRPC poll the socket in the thread that calls them, so that nothing hops
// between threads from a decision to its answer.
End Session(Bot& bot, const Referee& referee) {
  // A connection of its own: channels share theirs by address otherwise, and with it the pauses
  // that gRPC makes before it dials again.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel = grpc::CreateCustomChannel(referee.address, referee.trust, arguments);
  const auto stub = pb::PlayService::NewStub(channel);
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + referee.token);
  const auto stream = stub->Play(&context);
  End end;
  pb::PlayResponse response;
  // Writing fails only when the stream is over; Finish then says why.
  stream->Write(bot.Hello());
  while (stream->Read(&response)) {
    end.was_welcome = end.was_welcome || response.has_welcome();
    if (const auto request = bot.AnswerTo(response)) stream->Write(*request);
  }
  end.status = stream->Finish();
  return end;
}

// Keeps a stream to the referee until that ends one cleanly while no match is running.
//
// A lost stream is dialled again for kPatience, or for the reconnect time of the running matches
// if that is longer. Throws RefusedError.
void Play(Bot& bot, const Referee& referee) {
  Clock::time_point lost_at = Clock::now();
  milliseconds backoff = kFirstBackoff;
  while (true) {
    const End end = Session(bot, referee);
    if (end.status.ok() && !bot.IsPlaying()) return;
    if (!IsPassing(end.status.error_code())) {
      throw RefusedError("the referee at " + referee.address + " refused: " + Text(end.status));
    }
    if (end.was_welcome) {
      lost_at = Clock::now();
      backoff = kFirstBackoff;
    }
    const auto tried = Clock::now() - lost_at;
    if (tried + backoff > std::max(kPatience, bot.ReconnectTime())) {
      std::ostringstream text;
      text << "no referee at " << referee.address << " in " << std::fixed << std::setprecision(1)
           << std::chrono::duration<double>(tried).count() << " s: " << Text(end.status);
      throw RefusedError(text.str());
    }
    std::this_thread::sleep_for(backoff);
    backoff = std::min(2 * backoff, kLongestBackoff);
  }
}

}  // namespace

int Run(Bot& bot) {
  // The log is the author's: gRPC's own messages about lost connections are not wanted in it.
  gpr_set_log_function([](gpr_log_func_args* /*arguments*/) {});
  // There is nothing to put in order, also while a strategy thinks: the stream closes by itself.
  for (const int number : {SIGTERM, SIGINT}) std::signal(number, [](int) { std::_Exit(0); });
  try {
    Play(bot, Named());
  } catch (const EnvironmentError& error) {
    std::cerr << error.what() << "\n";
    return 2;
  } catch (const RefusedError& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace client
