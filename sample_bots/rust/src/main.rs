//! Plays the greedy strategy for whatever referee its environment names.

mod client;
mod greedy;

/// The messages and the client that build.rs generates.
#[allow(clippy::all, clippy::pedantic)]
mod proto {
    tonic::include_proto!("rummy.referee.v1");
}

use client::Bot;
use greedy::Greedy;

fn main() {
    let bot = Bot::new("greedy-rust", "1.0.0", |starting| Box::new(Greedy::new(starting)));
    client::run(bot);
}
