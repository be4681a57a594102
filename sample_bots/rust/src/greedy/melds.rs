//! Sets and runs: which are in a hand, and what fits those on the table.

use super::cards::{ACE, CardNumber, JOKER, KING, are_suits_free, is_ace_high, rank, suit};
use crate::proto::RuleSet;

const FEWEST: usize = 3;
const LARGEST_SET: usize = 4;
const LONGEST_RUN: usize = 13;

/// Tells a set from a run.
fn is_set(meld: &[CardNumber]) -> bool {
    meld.len() > 1 && rank(meld[0]) == rank(meld[1])
}

/// Whether the natural card may be laid off on the meld: a set, or a run upwards.
pub fn fits(card: CardNumber, meld: &[CardNumber], rules: &RuleSet) -> bool {
    let (Some(&first), Ok(length)) = (meld.first(), i32::try_from(meld.len())) else {
        return false;
    };
    if is_set(meld) {
        let is_new = are_suits_free(rules) || !meld.contains(&card);
        return rank(card) == rank(first) && meld.len() < LARGEST_SET && is_new;
    }
    let low = rank(first);
    let high = low + length - 1;
    let is_next = rank(card) == low - 1 || rank(card) == high + 1;
    let is_on_top = is_ace_high(rules) && rank(card) == ACE && high == KING && low != ACE;
    suit(card) == suit(first) && (is_next || is_on_top)
}

/// Adds a card that fits; a run is still upwards.
pub fn extend(meld: &mut Vec<CardNumber>, card: CardNumber) {
    let is_below = !is_set(meld) && rank(card) == rank(meld[0]) - 1;
    meld.insert(if is_below { 0 } else { meld.len() }, card);
}

/// Every set and run of natural cards in the hand, runs upwards.
pub fn melds_within(hand: &[CardNumber], rules: &RuleSet) -> Vec<Vec<CardNumber>> {
    let mut hand: Vec<CardNumber> =
        hand.iter().copied().filter(|card| (1..JOKER).contains(card)).collect();
    hand.sort_unstable();
    let mut faces = hand.clone();
    faces.dedup();
    let of_sets = if are_suits_free(rules) { &hand } else { &faces };
    let mut melds = Vec::new();
    for wanted in ACE..=KING {
        let same: Vec<CardNumber> =
            of_sets.iter().copied().filter(|&card| rank(card) == wanted).collect();
        add_sets(&mut melds, &mut Vec::new(), &same);
    }
    for wanted in 0..4 {
        let mut places: Vec<(i32, CardNumber)> = faces
            .iter()
            .filter(|&&card| suit(card) == wanted)
            .map(|&card| (rank(card), card))
            .collect();
        if let Some(&(ACE, ace)) = places.first()
            && is_ace_high(rules)
        {
            places.push((KING + 1, ace));
        }
        add_runs(&mut melds, &places);
    }
    melds
}

/// Adds every choice of three or four of the cards that goes on from the chosen ones.
fn add_sets(melds: &mut Vec<Vec<CardNumber>>, chosen: &mut Vec<CardNumber>, cards: &[CardNumber]) {
    if chosen.len() >= FEWEST {
        melds.push(chosen.clone());
    }
    if chosen.len() == LARGEST_SET {
        return;
    }
    for (at, &card) in cards.iter().enumerate() {
        chosen.push(card);
        add_sets(melds, chosen, &cards[at + 1..]);
        chosen.pop();
    }
}

/// Adds every run of one suit, given its ranks upwards with their cards. None holds the ace at both
/// ends: from the ace it stops at the king.
fn add_runs(melds: &mut Vec<Vec<CardNumber>>, places: &[(i32, CardNumber)]) {
    for low in 0..places.len() {
        let mut run = Vec::new();
        let ranks = places[low].0..;
        for (rank, &(next, card)) in ranks.zip(&places[low..]).take(LONGEST_RUN) {
            if next != rank {
                break;
            }
            run.push(card);
            if run.len() >= FEWEST {
                melds.push(run.clone());
            }
        }
    }
}
