//! Cards by their numbers: what they are, cost and go with.

use crate::proto::{Ace, Card, RuleSet, SetSuits, Wilds};

/// A value of the `Card` enum: 1 (`AC`) to 52 (`KS`), 53 for the joker.
pub type CardNumber = i32;

pub const ACE: i32 = 1;
pub const KING: i32 = 13;
pub const JOKER: CardNumber = Card::Xx as CardNumber;

/// 1 (ace) to 13 (king).
pub fn rank(card: CardNumber) -> i32 {
    (card - 1) % 13 + 1
}

/// 0 to 3 in the order C D H S.
pub fn suit(card: CardNumber) -> i32 {
    (card - 1) / 13
}

/// Whether some cards may stand for others.
pub fn has_wilds(rules: &RuleSet) -> bool {
    // Values without a name count as wild cards too, so the number is compared.
    rules.wilds != Wilds::Unspecified as i32 && rules.wilds != Wilds::None as i32
}

/// Whether the card may stand for another.
pub fn is_wild(card: CardNumber, rules: &RuleSet) -> bool {
    let are_deuces_wild = matches!(rules.wilds(), Wilds::Deuces | Wilds::JokersAndDeuces);
    card == JOKER || are_deuces_wild && rank(card) == 2
}

/// Whether an ace may also stand above the king.
pub fn is_ace_high(rules: &RuleSet) -> bool {
    rules.ace() == Ace::HighOrLow
}

/// Whether a set may hold one suit twice.
pub fn are_suits_free(rules: &RuleSet) -> bool {
    rules.set_suits() == SetSuits::Any
}

/// What the card costs when it is left in hand.
pub fn points(card: CardNumber, rules: &RuleSet) -> u32 {
    if is_wild(card, rules) {
        return 15;
    }
    match rank(card) {
        ACE => rules.ace_points.max(1),
        other => other.clamp(0, 10).unsigned_abs(),
    }
}

/// What the cards cost together.
pub fn sum_of_points(cards: &[CardNumber], rules: &RuleSet) -> u32 {
    cards.iter().map(|&card| points(card, rules)).sum()
}

/// The hand less one copy of each used card.
pub fn without(hand: &[CardNumber], used: &[CardNumber]) -> Vec<CardNumber> {
    let mut rest = hand.to_vec();
    for card in used {
        if let Some(at) = rest.iter().position(|other| other == card) {
            rest.remove(at);
        }
    }
    rest
}

/// Whether the card is a step from a meld with one of the others: a pair, or the same suit within
/// two ranks.
pub fn is_connected(card: CardNumber, others: &[CardNumber], rules: &RuleSet) -> bool {
    others.iter().any(|&other| {
        let (low, high) = (rank(card).min(rank(other)), rank(card).max(rank(other)));
        if is_wild(other, rules) {
            false
        } else if low == high {
            other != card || are_suits_free(rules)
        } else {
            let is_around_the_ace = is_ace_high(rules) && low == ACE && high >= KING - 1;
            suit(card) == suit(other) && (high - low <= 2 || is_around_the_ace)
        }
    })
}
