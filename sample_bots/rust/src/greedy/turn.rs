//! The rest of a turn, played ahead in the mind.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    cards::{CardNumber, sum_of_points, without},
    dearest_loose,
    melds::{extend, fits, melds_within},
};
use crate::proto::{Action, ActionType, GoOut, LayoffGate, Observation, RuleSet, SameCardDiscard};

/// What is in hand, on the table, and planned.
///
/// Every step is checked by a rule that is stricter than the referee's (see `leaves_an_end`), so a
/// plan made here is legal under every set of rules without wild cards.
pub struct Turn<'a> {
    rules: &'a RuleSet,
    hand: Vec<CardNumber>,
    table: BTreeMap<u32, Vec<CardNumber>>,
    taken: CardNumber,
    /// Laid in this turn, planned ones included.
    melds: u32,
    are_layoffs_open: bool,
    planned: Vec<Action>,
}

/// Whether the seat may lay off before it melds anything.
pub fn are_layoffs_open(seen: &Observation, rules: &RuleSet) -> bool {
    rules.layoff_gate() != LayoffGate::OwnMeldFirst
        || seen.melds_this_turn > 0
        || seen.played.get(seen.seat as usize).is_some_and(|&has_played| has_played)
}

impl<'a> Turn<'a> {
    /// The turn as it stands.
    pub fn new(seen: &Observation, rules: &'a RuleSet) -> Self {
        let mut hand = seen.hand.clone();
        hand.sort_unstable();
        Self {
            rules,
            hand,
            table: seen.table.iter().map(|meld| (meld.meld_id, meld.cards.clone())).collect(),
            taken: seen.taken,
            melds: seen.melds_this_turn,
            are_layoffs_open: are_layoffs_open(seen, rules),
            planned: Vec::new(),
        }
    }

    /// Plays the turn to its end: melds, layoffs, the discard.
    pub fn plan(mut self) -> Vec<Action> {
        while let Some(cards) = self.best_meld() {
            self.meld(cards);
        }
        while let Some((card, meld_id)) = self.first_layoff() {
            self.lay_off(card, meld_id);
        }
        let may_go = |&card: &CardNumber| self.may_discard(card, &self.hand);
        let allowed: Vec<CardNumber> = self.hand.iter().copied().filter(may_go).collect();
        if let Some(card) = dearest_loose(&self.hand, &allowed, self.rules) {
            self.add(ActionType::Discard, vec![card], 0);
        }
        self.planned
    }

    /// The meld of most points, then of most cards, then of lowest cards.
    fn best_meld(&self) -> Option<Vec<CardNumber>> {
        if self.rules.max_melds_per_turn.is_some_and(|most| self.melds >= most) {
            return None;
        }
        melds_within(&self.hand, self.rules)
            .into_iter()
            .filter(|meld| self.leaves_an_end(meld))
            .max_by_key(|meld| {
                let mut upwards = meld.clone();
                upwards.sort_unstable();
                (sum_of_points(meld, self.rules), meld.len(), Reverse(upwards))
            })
    }

    /// A card and the meld that it fits: the first meld that takes any, and its first card.
    fn first_layoff(&self) -> Option<(CardNumber, u32)> {
        if !self.are_layoffs_open {
            return None;
        }
        self.table.iter().find_map(|(&meld_id, meld)| {
            let goes =
                |&card: &CardNumber| fits(card, meld, self.rules) && self.leaves_an_end(&[card]);
            self.hand.iter().copied().find(goes).map(|card| (card, meld_id))
        })
    }

    /// Whether the card of that hand may end the turn.
    fn may_discard(&self, card: CardNumber, hand: &[CardNumber]) -> bool {
        let is_forbidden = self.rules.same_card_discard() == SameCardDiscard::Forbidden;
        card != self.taken || hand.len() == 1 && !is_forbidden
    }

    /// Whether the turn can end at once after these cards have left the hand.
    fn leaves_an_end(&self, used: &[CardNumber]) -> bool {
        let rest = without(&self.hand, used);
        if rest.is_empty() {
            return self.rules.go_out() != GoOut::MustDiscard;
        }
        rest.iter().any(|&card| self.may_discard(card, &rest))
    }

    fn meld(&mut self, cards: Vec<CardNumber>) {
        let highest = self.table.last_key_value().map_or(0, |(&meld_id, _)| meld_id);
        self.table.insert(highest + 1, cards.clone());
        self.melds += 1;
        self.are_layoffs_open = true;
        self.add(ActionType::Meld, cards, 0);
    }

    fn lay_off(&mut self, card: CardNumber, meld_id: u32) {
        self.table.entry(meld_id).and_modify(|meld| extend(meld, card));
        self.add(ActionType::LayOff, vec![card], meld_id);
    }

    fn add(&mut self, kind: ActionType, cards: Vec<CardNumber>, meld_id: u32) {
        self.hand = without(&self.hand, &cards);
        self.planned.push(Action { r#type: kind.into(), cards, meld_id, meanings: Vec::new() });
    }
}
