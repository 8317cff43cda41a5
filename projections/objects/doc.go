// Package objects is the projection of what agents said, did and learned: every version
// of every object, and the edges that events tell, as facts.
//
// What a caller may rely on:
//
//   - Nothing is joined, superseded, merged or counted when it is stored. An edge names
//     its other end as the event does, whether that is known, comes later in another
//     partition, or never. What an object's versions, claims and edges come to is judged
//     when asked, among what may be seen, as of the moment that is asked about. So the
//     state is a function of the records of each partition, whatever their interleaving.
//   - An event that its partition has twice counts once: the first. The same event id in
//     another partition, or in the hands of another tenant, workspace or agent, is another
//     event (schemas.SeenAs); all of them are kept.
//   - What is listed is listed by audience, and every row of a list has its time and
//     place in its key, so that a question as of a moment, or for one who may not see
//     all, skips the rest without reading it, and gives what it would if there were no
//     more. Edges to an event or object are listed for all audiences together, as their
//     ids are hashes; what may not be seen is skipped by what is in memory.
//   - What a search filters by, and what is of an audience, a session or an agent, is in
//     memory, about 60 bytes an object (see table, postings), and of the same state as
//     everything else that a View reads. So is what objects are called, and which of them
//     led to which and what they say, by its hash, 75 bytes more (links).
//   - A text is kept once. Of a long one an object has the first 4 KiB; the rest is read
//     by Passage, in pieces of 32 KiB.
//
// # Keys
//
// Pebble, with the keys of package store and these kinds. Integers in keys are
// big-endian. Shard is a byte for the length of the topic's name (0 for
// recount.agents), the name, and the partition (uint32). When is the object's time
// (int64, sign bit flipped, then all bits), its Shard, its offset (uint64, all bits
// flipped) and its number in its event (uint16): keys ascend from the newest to the
// oldest. A text is a uvarint length and its bytes.
//
//	0x10 Shard offset (uint64)       an event: its id (16), its type (text), how many
//	                                 objects, and of each its id (16), 1 + how much of
//	                                 its text's head is its title (uvarint, 0: another
//	                                 text), how many bytes of its text stand elsewhere
//	                                 (uvarint), and the rest of it as recount.v1.Object
//	                                 (text); how many edges, and of each the number of
//	                                 the object that it leads from (uvarint), and the
//	                                 rest of it as recount.v1.ObjectEdge (text)
//	0x11 Shard offset (uint64)       a piece of an object's text behind its head
//	     number (uint16)
//	     piece (uint32)
//	0x12 event id (16) When          empty: an event of this id, by its first object
//	0x13 object id (16) When         empty: a version of this object, unless it is what
//	                                 an event made by itself: that is found as what was
//	                                 seen (package store, 0x02)
//	0x14 id (16) When                empty: an edge leads from there to this event or
//	                                 object, other than one that says it used the event
//	0x15 audience (16) list (1)      empty: stands in the list. Lists are 1 what names
//	     hash (uint64) When          an entity (xxh3 of its name), unless that is the
//	                                 session or the agent that it is of, 2 what says the
//	                                 same (Object.content_hash), 3 claims (xxh3 of the
//	                                 subject, as a text, and the predicate)
//	0x16 Shard n (uint32)            rows 128n to 128n+127 of the table: of each the
//	                                 offset minus the one before (of the first the
//	                                 offset), the number in its event, the time minus
//	                                 the one before (varint), the importance (float32,
//	                                 little-endian), bytes of type and of memory kind
//	                                 (0x80: versioned, 0x40: removed, 0x20: it claims
//	                                 something, or says when it holds), and the numbers
//	                                 of audience, workspace, agent and session
//	0x17 Shard n (uint32)            audience n: the offset of its first object
//	                                 (uvarint), tenant (text), visibility (a byte),
//	                                 workspace, session, agent (texts)
//	0x18 Shard n (uint32)            name n, of a workspace, an agent, a session, a type
//	                                 of event or what edges are (0x1B)
//	0x19 Shard                       how many events, objects, edges, audiences and
//	                                 names there are: uvarints
//	0x1A event id (16) When          empty: an edge from there says that it used the event
//	0x1B Shard n (uint32)            links of rows 16n to 16n+15: of each the event's id
//	                                 (16), the object's (16) unless that is what the
//	                                 event made by itself, the content hash (uint64,
//	                                 little-endian), the number of its type among the
//	                                 names, how many edges have links (uvarints), and of
//	                                 each the number of what it is among the names
//	                                 (uvarint: what it names (a byte), its kind
//	                                 (uvarint), its rule (text), the rest its name), its
//	                                 confidence (float32, little-endian) and the id that
//	                                 it leads to (16)
package objects
