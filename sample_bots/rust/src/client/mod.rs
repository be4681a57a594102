//! The way from a strategy to the referee: one stream, any number of matches over it.
//!
//! A bot is a [`Strategy`] made anew for each match. [`Bot`] says what is answered to each message
//! and does no input or output but the author's log; [`run`] runs it on a stream, and dials again
//! when that is lost.

mod bot;
mod connection;
mod play;

pub use bot::{Answer, Bot, Strategy};
pub use play::run;
