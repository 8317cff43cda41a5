// Package node is the whole program as one struct: the log, the stream that makes
// records of events and folds them into projections, and the HTTP door, opened
// from one Config, run until a context ends, and closed in order.
//
//	n, err := node.Open(ctx, cfg)   // takes the data directory, binds the ports
//	err = n.Run(ctx)                // serves until ctx ends
//	err = n.Close()
//
// A node without doors answers the CLI where no server runs (OpenLocal): the same
// methods on the same data directory, which first catch up with the log.
//
// What a caller may rely on: one process has a data directory at a time; a
// failure of Open names the field or flag to change and leaves nothing behind;
// after a crash at any moment the next Open goes on from what is durable, and
// what the projections lack they read from the log again.
//
// # The data directory
//
//	recount.json    its format and id: what makes the folder a data directory
//	LOCK            held while a process has the directory
//	endpoints.json  where the running node is reached; a crash leaves it behind
//	log/            the embedded log (pipeline/broker)
//	projections/    the projections' generations (projections)
//	checkpoints/    where a process that only projects stands in the derived topic
//	scratch/        what verify replays into; removed at the next Open
package node
