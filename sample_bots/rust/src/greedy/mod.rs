//! Plays what helps now: it melds and lays off all it can, and throws what costs most.
//!
//! The strategy is the same as that of the sample bot `greedy` in Python, action by action.

mod cards;
mod melds;
mod turn;
#[cfg(test)]
mod vectors;

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    client::{Answer, Strategy},
    proto::{Action, ActionType, Decision, MatchStarting, Observation, Phase, RuleSet},
};
use cards::{CardNumber, has_wilds, is_connected, is_wild, points, sum_of_points, without};
use melds::{fits, melds_within};
use turn::Turn;

/// Needs no memory: each decision says all that it looks at.
pub struct Greedy {
    rules: RuleSet,
}

impl Greedy {
    /// The bot for a match that begins.
    pub fn new(starting: &MatchStarting) -> Self {
        Self { rules: starting.rules.clone().unwrap_or_default() }
    }

    fn draw(&self, seen: &Observation, actions: &[Action]) -> usize {
        let stock = index_of(actions, ActionType::DrawStock);
        let discard = index_of(actions, ActionType::DrawDiscard);
        match (stock, discard) {
            (Some(stock), Some(discard)) => {
                if self.wants_upcard(seen) {
                    discard
                } else {
                    stock
                }
            }
            (only, None) | (None, only) => only.unwrap_or(0),
        }
    }

    fn wants_upcard(&self, seen: &Observation) -> bool {
        let rules = &self.rules;
        let Some(&upcard) = seen.discard_pile.last() else {
            return false;
        };
        let mut hand = seen.hand.clone();
        hand.push(upcard);
        is_wild(upcard, rules)
            || melds_within(&hand, rules).iter().any(|meld| meld.contains(&upcard))
            || turn::are_layoffs_open(seen, rules)
                && seen.table.iter().any(|meld| {
                    // Melds with wild cards are passed over: what fits them is not worth the code.
                    meld.meanings.is_empty() && fits(upcard, &meld.cards, rules)
                })
    }

    /// The index of the action that empties the hand of most points, melds first.
    fn one_action(&self, seen: &Observation, actions: &[Action]) -> usize {
        self.dearest(actions, ActionType::Meld)
            .or_else(|| self.dearest(actions, ActionType::LayOff))
            .or_else(|| {
                let discards: BTreeMap<CardNumber, usize> = of_kind(actions, ActionType::Discard)
                    .filter_map(|(index, action)| Some((*action.cards.first()?, index)))
                    .collect();
                let allowed: Vec<CardNumber> = discards.keys().copied().collect();
                let thrown = dearest_loose(&seen.hand, &allowed, &self.rules)?;
                discards.get(&thrown).copied()
            })
            .unwrap_or(0)
    }

    /// The index of the action of this kind with most points, then most cards; the first of equals.
    fn dearest(&self, actions: &[Action], kind: ActionType) -> Option<usize> {
        of_kind(actions, kind)
            .max_by_key(|(index, action)| {
                (sum_of_points(&action.cards, &self.rules), action.cards.len(), Reverse(*index))
            })
            .map(|(index, _)| index)
    }
}

impl Strategy for Greedy {
    /// Draws, or plans the rest of the turn; with wild cards it takes one legal action at a time.
    fn choose(&mut self, decision: &Decision) -> Answer {
        let nothing = Observation::default();
        let seen = decision.observation.as_ref().unwrap_or(&nothing);
        let actions = &decision.legal_actions;
        let index = if seen.phase() == Phase::Draw {
            self.draw(seen, actions)
        } else if has_wilds(&self.rules) {
            self.one_action(seen, actions)
        } else {
            return Answer::Plan(Turn::new(seen, &self.rules).plan());
        };
        Answer::Index(u32::try_from(index).expect("a list of actions is short"))
    }
}

fn of_kind(actions: &[Action], kind: ActionType) -> impl Iterator<Item = (usize, &Action)> {
    actions.iter().enumerate().filter(move |(_, action)| action.r#type() == kind)
}

fn index_of(actions: &[Action], kind: ActionType) -> Option<usize> {
    of_kind(actions, kind).next().map(|(index, _)| index)
}

/// The allowed card to throw: natural before wild, loose before connected, then the dearest, then
/// the highest number.
fn dearest_loose(
    hand: &[CardNumber],
    allowed: &[CardNumber],
    rules: &RuleSet,
) -> Option<CardNumber> {
    allowed.iter().copied().max_by_key(|&card| {
        let is_loose = !is_connected(card, &without(hand, &[card]), rules);
        (!is_wild(card, rules), is_loose, points(card, rules), card)
    })
}
