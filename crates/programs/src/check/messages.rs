//! Messages: has every receive one, and is every one received?

use std::collections::{BTreeMap, BTreeSet};

use super::{ProgramError, in_words};
use crate::{Kind, Program};

/// Sender, receiver and tag; a sender or a tag that is absent is any.
type Key = (Option<u32>, u32, Option<u64>);
/// The part of all messages that those of a key are in; none if they may be in several parts.
type Part = fn(Key) -> Option<Key>;

/// Messages and receives of a key.
#[derive(Clone, Debug, Default)]
struct Count {
    sends: u64,
    receives: u64,
    /// The channel of the last one sent, and whether others had another one.
    channel: Option<u32>,
    on_several: bool,
}

impl Program {
    /// What each rank sends and receives in an iteration, by sender, receiver and tag.
    fn counts(&self) -> BTreeMap<Key, Count> {
        let mut counts: BTreeMap<Key, Count> = BTreeMap::new();
        for (rank, of) in (0..).zip(&self.ranks) {
            let peer = |peer: u32| of.peers[peer as usize];
            for operation in &self.graph_of(rank).operations {
                match operation.kind {
                    Kind::Send { peer: to, tag, channel, .. } => {
                        let count = counts.entry((Some(rank), peer(to), Some(tag))).or_default();
                        count.sends += 1;
                        count.on_several |=
                            count.channel.replace(channel).is_some_and(|last| last != channel);
                    }
                    Kind::Recv { peer: from, tag } => {
                        counts.entry((from.map(peer), rank, tag)).or_default().receives += 1;
                    }
                    Kind::Compute { .. } | Kind::Collective { .. } => {}
                }
            }
        }
        counts
    }

    /// Are there as many messages as receives, of each kind?
    pub(super) fn check_receives(&self) -> Result<(), ProgramError> {
        let counts = self.counts();
        let exact = counts.iter().find_map(|(key, count)| match *key {
            (Some(from), to, Some(tag)) if count.sends < count.receives => Some((from, to, tag, count)),
            _ => None,
        });
        if let Some((from, to, tag, &Count { sends, receives, .. })) = exact {
            let tag = self.tag_name(tag);
            return Err(ProgramError::Unmatched { from, to, tag, sends, receives });
        }
        // Receives of a sender compete for its messages whatever their tags, and so on: of each sender, of
        // each tag, and of all, there must be enough.
        let of_sender: Part = |(from, to, _)| from.map(|from| (Some(from), to, None));
        let of_tag: Part = |(_, to, tag)| tag.map(|tag| (None, to, Some(tag)));
        let of_all: Part = |(_, to, _)| Some((None, to, None));
        [of_sender, of_tag, of_all].into_iter().try_for_each(|part| self.check_part(&counts, part))
    }

    /// Messages that no receive can take, and tags that do not say which message a receive takes.
    pub fn warnings(&self) -> Vec<String> {
        let counts = self.counts();
        let open: BTreeSet<u32> = counts.keys().filter(|key| is_open(**key)).map(|key| key.1).collect();
        let mut unread: BTreeMap<(u32, u32), (u64, Vec<u64>)> = BTreeMap::new();
        let mut on_channels: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
        for (key, count) in &counts {
            let &(Some(from), to, Some(tag)) = key else { continue };
            if count.sends > count.receives && !open.contains(&to) {
                let (messages, tags) = unread.entry((from, to)).or_default();
                *messages += count.sends - count.receives;
                tags.push(tag);
            }
            if count.on_several {
                on_channels.entry((from, to)).or_default().push(tag);
            }
        }
        let mut warnings: Vec<String> = Vec::new();
        warnings.extend(unread.into_iter().map(|((from, to), (messages, tags))| {
            let (messages, tags) = (messages_in_words(messages), self.tags_in_words(&tags));
            format!("rank {to} never receives {messages} of rank {from} with {tags}")
        }));
        warnings.extend(open.into_iter().filter_map(|to| unread_by_open(&counts, to)));
        warnings.extend(on_channels.into_iter().map(|((from, to), tags)| {
            let tags = self.tags_in_words(&tags);
            format!(
                "rank {from} sends messages with {tags} to rank {to} on several channels: which of its \
                 receives a message meets may depend on the order of arrival"
            )
        }));
        warnings
    }

    /// Are there enough messages in each part for the receives that take none of another part?
    fn check_part(&self, counts: &BTreeMap<Key, Count>, part: Part) -> Result<(), ProgramError> {
        let mut sums: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
        for (&key, count) in counts {
            let Some(key) = part(key) else { continue };
            let (sends, receives) = sums.entry(key).or_default();
            (*sends, *receives) = (*sends + count.sends, *receives + count.receives);
        }
        let short = sums.into_iter().find(|(_, (sends, receives))| sends < receives);
        let Some(((from, to, tag), (sends, receives))) = short else { return Ok(()) };
        let which = match (from, tag) {
            (Some(from), _) => format!(" from rank {from}"),
            (None, Some(tag)) => format!(" with {}", self.tag_name(tag)),
            (None, None) => String::new(),
        };
        Err(ProgramError::TooFew { to, which, sends, receives })
    }
}

fn is_open((from, _, tag): Key) -> bool {
    from.is_none() || tag.is_none()
}

fn messages_in_words(messages: u64) -> String {
    if messages == 1 { "a message".into() } else { format!("{messages} messages") }
}

/// Messages to a rank with open receives that are more than all its receives.
fn unread_by_open(counts: &BTreeMap<Key, Count>, to: u32) -> Option<String> {
    let own = || counts.iter().filter(|(key, _)| key.1 == to);
    let (sends, receives) =
        own().fold((0, 0), |sum, (_, count)| (sum.0 + count.sends, sum.1 + count.receives));
    let from: BTreeSet<u32> =
        own().filter(|(_, count)| count.sends > 0).filter_map(|(key, _)| key.0).collect();
    let from: Vec<u32> = from.into_iter().collect();
    (sends > receives).then(|| {
        let (messages, ranks) = (messages_in_words(sends - receives), in_words("rank", "ranks", &from));
        format!("rank {to} never receives {messages} of the {sends} that {ranks} send to it")
    })
}
