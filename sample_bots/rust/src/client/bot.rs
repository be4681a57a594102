//! What a bot answers to each message.

use std::{collections::HashMap, time::Duration};

use crate::proto::{
    Action, Choice, Decision, Event, Hello, MatchStarting, PlayRequest, PlayResponse, Pong, Ready,
    Rejected, Update, Welcome, play_request::Message as Request,
    play_response::Message as Response,
};

const MAX_CONCURRENT_MATCHES: u32 = 16;

/// Plays one seat of one match.
pub trait Strategy {
    /// Answers a decision.
    fn choose(&mut self, decision: &Decision) -> Answer;

    /// Takes note of what happened. Each event of the match comes once, in order, and before the
    /// decision that it led to.
    fn observe(&mut self, _event: &Event) {}
}

/// What a strategy answers to a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// An index into the legal actions.
    Index(u32),
    /// Actions to be applied in this order.
    Plan(Vec<Action>),
}

type Factory = Box<dyn Fn(&MatchStarting) -> Box<dyn Strategy>>;

/// Keeps the running matches and knows the answer to each message.
pub struct Bot {
    name: String,
    version: String,
    factory: Factory,
    seats: HashMap<String, Seat>,
}

/// A running match.
struct Seat {
    strategy: Box<dyn Strategy>,
    reconnect: Duration,
    /// Number of the first event that the strategy has not seen.
    next_event: u32,
}

impl Bot {
    /// A bot without matches; `factory` makes the strategy for each that begins.
    pub fn new(
        name: &str,
        version: &str,
        factory: impl Fn(&MatchStarting) -> Box<dyn Strategy> + 'static,
    ) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            factory: Box::new(factory),
            seats: HashMap::new(),
        }
    }

    /// Whether a match is running.
    pub fn is_playing(&self) -> bool {
        !self.seats.is_empty()
    }

    /// How long the running matches wait for a lost stream to come back.
    pub fn reconnect_time(&self) -> Duration {
        self.seats.values().map(|seat| seat.reconnect).max().unwrap_or_default()
    }

    /// The first message of a stream.
    pub fn hello(&self) -> PlayRequest {
        request(Request::Hello(Hello {
            bot: self.name.clone(),
            version: self.version.clone(),
            max_concurrent_matches: MAX_CONCURRENT_MATCHES,
            ..Hello::default()
        }))
    }

    /// The answer to a message; `None` if it needs none or is not known here.
    pub fn answer(&mut self, response: PlayResponse) -> Option<PlayRequest> {
        match response.message? {
            Response::Update(update) => return self.update(update),
            Response::MatchStarting(starting) => return Some(self.match_starting(starting)),
            Response::Ping(ping) => {
                return Some(request(Request::Pong(Pong { nonce: ping.nonce })));
            }
            Response::MatchEnded(ended) => {
                self.seats.remove(&ended.match_id);
            }
            Response::Rejected(rejected) => eprintln!("{}", self.complaint(&rejected)),
            Response::Welcome(welcome) => self.welcome(&welcome),
            Response::Pong(_) => {}
        }
        None
    }

    fn match_starting(&mut self, starting: MatchStarting) -> PlayRequest {
        // After a reconnect it may come again: the strategy then goes on.
        if !self.seats.contains_key(&starting.match_id) {
            let clock = starting.time_control.unwrap_or_default();
            let seat = Seat {
                strategy: (self.factory)(&starting),
                reconnect: Duration::from_millis(clock.reconnect_ms.into()),
                next_event: 1,
            };
            self.seats.insert(starting.match_id.clone(), seat);
        }
        request(Request::Ready(Ready { match_id: starting.match_id }))
    }

    fn update(&mut self, update: Update) -> Option<PlayRequest> {
        let seat = self.seats.get_mut(&update.match_id)?;
        seat.observe(&update);
        let decision = update.decision?;
        let (actions, legal_action_index) = match seat.strategy.choose(&decision) {
            Answer::Index(index) => (Vec::new(), Some(index)),
            Answer::Plan(actions) => (actions, None),
        };
        Some(request(Request::Choice(Choice {
            match_id: update.match_id,
            decision_id: decision.decision_id,
            actions,
            legal_action_index,
        })))
    }

    fn complaint(&self, rejected: &Rejected) -> String {
        format!("{}: choice rejected: {}", self.name, rejected.text)
    }

    /// Forgets the matches that the new stream does not take over: they have ended meanwhile.
    fn welcome(&mut self, welcome: &Welcome) {
        self.seats.retain(|id, _| welcome.resumed_match_ids.contains(id));
    }
}

impl Seat {
    /// Shows the events that are new: after a reconnect those of the current deal come again under
    /// their old numbers.
    fn observe(&mut self, update: &Update) {
        for (number, event) in (update.first_event_number..).zip(&update.events) {
            if number >= self.next_event {
                self.strategy.observe(event);
                self.next_event = number + 1;
            }
        }
    }
}

fn request(message: Request) -> PlayRequest {
    PlayRequest { message: Some(message) }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;
    use crate::proto::{ActionType, Drew, MatchEnded, Ping, TimeControl, event};

    /// Answers as the test wants and remembers the seats that drew.
    struct Recorder {
        answer: Answer,
        seen: Rc<RefCell<Vec<u32>>>,
    }

    impl Strategy for Recorder {
        fn choose(&mut self, _decision: &Decision) -> Answer {
            self.answer.clone()
        }

        fn observe(&mut self, event: &Event) {
            if let Some(event::Event::Drew(drew)) = &event.event {
                self.seen.borrow_mut().push(drew.seat);
            }
        }
    }

    fn recording(answer: Answer) -> (Bot, Rc<RefCell<Vec<u32>>>) {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&seen);
        let bot = Bot::new("recorder", "9", move |_| {
            Box::new(Recorder { answer: answer.clone(), seen: Rc::clone(&seen) })
        });
        (bot, kept)
    }

    fn said(message: Response) -> PlayResponse {
        PlayResponse { message: Some(message) }
    }

    fn starting(id: &str) -> PlayResponse {
        said(Response::MatchStarting(MatchStarting {
            match_id: id.to_owned(),
            time_control: Some(TimeControl { reconnect_ms: 1500, ..TimeControl::default() }),
            ..MatchStarting::default()
        }))
    }

    fn deciding(id: &str, decision_id: u32) -> PlayResponse {
        said(Response::Update(Update {
            match_id: id.to_owned(),
            decision: Some(Decision { decision_id, ..Decision::default() }),
            ..Update::default()
        }))
    }

    fn drew(id: &str, seats: &[u32]) -> PlayResponse {
        let event =
            |&seat| Event { event: Some(event::Event::Drew(Drew { seat, ..Drew::default() })) };
        said(Response::Update(Update {
            match_id: id.to_owned(),
            first_event_number: 1,
            events: seats.iter().map(event).collect(),
            ..Update::default()
        }))
    }

    #[test]
    fn says_hello() {
        let (bot, _) = recording(Answer::Index(0));
        let hello = Hello {
            bot: "recorder".to_owned(),
            version: "9".to_owned(),
            features: Vec::new(),
            max_concurrent_matches: 16,
        };
        assert_eq!(bot.hello(), request(Request::Hello(hello)));
    }

    #[test]
    fn matches_come_and_go() {
        let (mut bot, _) = recording(Answer::Index(0));
        assert!(!bot.is_playing());
        assert_eq!(bot.reconnect_time(), Duration::ZERO);
        let ready = Ready { match_id: "m".to_owned() };
        assert_eq!(bot.answer(starting("m")), Some(request(Request::Ready(ready))));
        assert!(bot.is_playing());
        assert_eq!(bot.reconnect_time(), Duration::from_millis(1500));
        let ended = MatchEnded { match_id: "m".to_owned(), ..MatchEnded::default() };
        assert_eq!(bot.answer(said(Response::MatchEnded(ended))), None);
        assert!(!bot.is_playing());
    }

    #[test]
    fn answers_with_an_index_or_a_plan() {
        let action = Action { r#type: ActionType::Discard.into(), ..Action::default() };
        let plan = vec![Action { cards: vec![1], ..action }];
        for (answer, actions, legal_action_index) in
            [(Answer::Index(0), Vec::new(), Some(0)), (Answer::Plan(plan.clone()), plan, None)]
        {
            let (mut bot, _) = recording(answer);
            bot.answer(starting("m"));
            let choice =
                Choice { match_id: "m".to_owned(), decision_id: 7, actions, legal_action_index };
            assert_eq!(bot.answer(deciding("m", 7)), Some(request(Request::Choice(choice))));
        }
    }

    #[test]
    fn events_come_once_and_in_order() {
        let (mut bot, seen) = recording(Answer::Index(0));
        bot.answer(starting("m"));
        bot.answer(drew("m", &[0, 1]));
        bot.answer(starting("m")); // the stream was lost
        assert_eq!(bot.answer(drew("m", &[0, 1, 2])), None);
        assert_eq!(*seen.borrow(), [0, 1, 2]);
    }

    #[test]
    fn pings_are_answered() {
        let (mut bot, _) = recording(Answer::Index(0));
        let answer = bot.answer(said(Response::Ping(Ping { nonce: u64::MAX })));
        assert_eq!(answer, Some(request(Request::Pong(Pong { nonce: u64::MAX }))));
    }

    #[test]
    fn skips_what_it_does_not_know() {
        let (mut bot, _) = recording(Answer::Index(0));
        let pong = said(Response::Pong(Pong { nonce: 1 }));
        for message in [PlayResponse::default(), deciding("unknown", 1), pong] {
            assert_eq!(bot.answer(message), None);
        }
    }

    #[test]
    fn what_is_not_resumed_is_over() {
        let (mut bot, _) = recording(Answer::Index(0));
        bot.answer(starting("a"));
        bot.answer(starting("b"));
        let welcome = Welcome {
            resumed_match_ids: vec!["b".to_owned(), "c".to_owned()],
            ..Welcome::default()
        };
        bot.answer(said(Response::Welcome(welcome)));
        for (id, plays) in [("a", false), ("b", true), ("c", false)] {
            assert_eq!(bot.answer(deciding(id, 1)).is_some(), plays, "match {id}");
        }
    }

    #[test]
    fn rejections_are_told_to_the_author() {
        let (bot, _) = recording(Answer::Index(0));
        let text = "discard KC: the hand does not hold KC".to_owned();
        let complaint = bot.complaint(&Rejected { text, ..Rejected::default() });
        let told = "recorder: choice rejected: discard KC: the hand does not hold KC";
        assert_eq!(complaint, told);
    }
}
