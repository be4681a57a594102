//! Real decisions with the answers that every language's bot must give.

use std::{env, fs};

use base64::{Engine, prelude::BASE64_STANDARD};
use prost::Message;
use serde::Deserialize;

use super::Greedy;
use crate::{
    client::{Answer, Strategy},
    proto::{Action, Card, Decision, MatchStarting, RuleSet},
};

#[derive(Deserialize)]
struct Vectors {
    rules: Vec<Rules>,
    decisions: Vec<Vector>,
}

#[derive(Deserialize)]
struct Rules {
    rules: String,
}

#[derive(Deserialize)]
struct Vector {
    rules: usize,
    decision: String,
    about: String,
    answer: Wanted,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
struct Wanted {
    index: Option<u32>,
    #[serde(default)]
    actions: Vec<WantedAction>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct WantedAction {
    r#type: String,
    cards: Vec<String>,
    #[serde(default)]
    meld_id: u32,
}

#[test]
fn every_vector_gets_its_answer() {
    let file = env::var("RUMMY_VECTORS").unwrap_or_else(|_| "../vectors/greedy.json".to_owned());
    let content = fs::read(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let read: Vectors = serde_json::from_slice(&content).unwrap();
    assert!(read.decisions.len() >= 1000);
    let rules: Vec<RuleSet> = read.rules.iter().map(|entry| decoded(&entry.rules)).collect();
    for (number, vector) in read.decisions.iter().enumerate() {
        let rules = Some(rules[vector.rules].clone());
        let mut bot = Greedy::new(&MatchStarting { rules, ..MatchStarting::default() });
        let decision: Decision = decoded(&vector.decision);
        let chosen = readable(bot.choose(&decision));
        assert_eq!(chosen, vector.answer, "decision {number}: {}", vector.about);
    }
}

fn decoded<M: Message + Default>(text: &str) -> M {
    M::decode(BASE64_STANDARD.decode(text).unwrap().as_slice()).unwrap()
}

/// The answer in the form of the vectors.
fn readable(answer: Answer) -> Wanted {
    match answer {
        Answer::Index(index) => Wanted { index: Some(index), ..Wanted::default() },
        Answer::Plan(plan) => {
            Wanted { index: None, actions: plan.into_iter().map(readable_action).collect() }
        }
    }
}

fn readable_action(mut action: Action) -> WantedAction {
    action.cards.sort_unstable();
    let name = |&card: &i32| short(Card::try_from(card).unwrap().as_str_name(), "CARD_");
    WantedAction {
        r#type: short(action.r#type().as_str_name(), "ACTION_TYPE_"),
        cards: action.cards.iter().map(name).collect(),
        meld_id: action.meld_id,
    }
}

fn short(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_owned()
}
