//! Environment, stream, dialling again, exit codes.

use std::{cmp, env, process, time::Duration};

use openssl::ssl::SslConnector;
use tokio::{
    runtime, select,
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    time::{Instant, sleep},
};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{
    Code, Request, Status,
    metadata::{Ascii, MetadataValue},
};

use super::{bot::Bot, connection};
use crate::proto::{play_response::Message, play_service_client::PlayServiceClient};

/// How long a referee is looked for when no running match asks for more.
const PATIENCE: Duration = Duration::from_secs(10);
const FIRST_BACKOFF: Duration = Duration::from_millis(50);
const LONGEST_BACKOFF: Duration = Duration::from_secs(1);

/// What the environment says.
struct Referee {
    address: String,
    /// The value of `authorization`.
    bearer: MetadataValue<Ascii>,
    trust: Option<SslConnector>,
}

/// Plays until the referee is done with this bot, then exits the process.
///
/// Exit codes: 0 the referee has ended the stream or a signal came, 1 it refused or could not be
/// reached, 2 the environment is not right.
pub fn run(mut bot: Bot) -> ! {
    // One thread reads, thinks and writes: nothing hops between threads.
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let code = runtime.expect("an event loop can be made").block_on(exit_code(&mut bot));
    process::exit(code)
}

async fn exit_code(bot: &mut Bot) -> i32 {
    let referee = match named() {
        Ok(referee) => referee,
        Err(text) => {
            eprintln!("{text}");
            return 2;
        }
    };
    let listen = |kind| signal(kind).expect("SIGTERM and SIGINT can be handled");
    let mut terminated = listen(SignalKind::terminate());
    let mut interrupted = listen(SignalKind::interrupt());
    let ended = select! {
        ended = play(bot, &referee) => ended,
        _ = terminated.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
    };
    if let Err(text) = ended {
        eprintln!("{text}");
        return 1;
    }
    0
}

/// Reads the environment. The error is for the bot's author.
fn named() -> Result<Referee, String> {
    let variable = |name| env::var(name).unwrap_or_default();
    let address = variable("RUMMY_REFEREE");
    if address.is_empty() {
        let needed = "RUMMY_REFEREE must be set: the referee's address, HOST:PORT or unix:PATH";
        return Err(needed.to_owned());
    }
    let file = variable("RUMMY_TLS_CA");
    let trust = if file.is_empty() {
        None
    } else {
        Some(connection::trusted(&file).map_err(|text| format!("RUMMY_TLS_CA: {text}"))?)
    };
    let bearer = format!("Bearer {}", variable("RUMMY_TOKEN"))
        .parse()
        .map_err(|_| "RUMMY_TOKEN holds a character that is not printable ASCII".to_owned())?;
    Ok(Referee { address, bearer, trust })
}

/// Keeps a stream to the referee until that ends one cleanly while no match is running.
///
/// A lost stream is dialled again for [`PATIENCE`], or for the reconnect time of the running
/// matches if that is longer. The error is for the bot's author: the referee refused or stayed out
/// of reach.
async fn play(bot: &mut Bot, referee: &Referee) -> Result<(), String> {
    let address = &referee.address;
    let mut lost_at = Instant::now();
    let mut backoff = FIRST_BACKOFF;
    loop {
        let mut was_welcome = false;
        let end = match session(bot, referee, &mut was_welcome).await {
            Ok(()) if !bot.is_playing() => return Ok(()),
            Ok(()) => Status::ok("the stream ended in a match"),
            Err(end) => end,
        };
        if !is_passing(end.code()) {
            return Err(format!("the referee at {address} refused: {}", text(&end)));
        }
        if was_welcome {
            lost_at = Instant::now();
            backoff = FIRST_BACKOFF;
        }
        let tried = lost_at.elapsed();
        if tried + backoff > cmp::max(PATIENCE, bot.reconnect_time()) {
            let tried = tried.as_secs_f64();
            return Err(format!("no referee at {address} in {tried:.1} s: {}", text(&end)));
        }
        sleep(backoff).await;
        backoff = cmp::min(2 * backoff, LONGEST_BACKOFF);
    }
}

/// Runs one stream to its end, and notes whether the referee said welcome. `Ok` means that the
/// referee has ended it with status OK.
async fn session(bot: &mut Bot, referee: &Referee, was_welcome: &mut bool) -> Result<(), Status> {
    let channel = connection::channel(&referee.address, referee.trust.as_ref()).await?;
    let (requests, outgoing) = mpsc::unbounded_channel();
    let mut call = Request::new(UnboundedReceiverStream::new(outgoing));
    call.metadata_mut().insert("authorization", referee.bearer.clone());
    // Sending fails only when the stream is over; reading then says why.
    let _ = requests.send(bot.hello());
    let mut responses = PlayServiceClient::new(channel).play(call).await?.into_inner();
    while let Some(response) = responses.message().await? {
        *was_welcome |= matches!(response.message, Some(Message::Welcome(_)));
        if let Some(request) = bot.answer(response) {
            let _ = requests.send(request);
        }
    }
    Ok(())
}

/// Whether a stream that ended like this is worth another try. Any other status is an answer that
/// will not change.
fn is_passing(code: Code) -> bool {
    matches!(
        code,
        Code::Ok
            | Code::Unavailable
            | Code::ResourceExhausted
            | Code::Unknown
            | Code::Internal
            | Code::Cancelled
            | Code::DeadlineExceeded
    )
}

/// One line about the end of a stream.
fn text(end: &Status) -> String {
    let details = end.message().lines().collect::<Vec<_>>().join(" ");
    format!("{}: {details}", code_name(end.code()))
}

/// The name of the status code as gRPC's documents write it.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
