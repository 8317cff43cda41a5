// Package node is the whole program as one struct. A Node consists of the log, the stream that
// processes events into records and folds them into projections, and the HTTP API. It is opened
// from one Config, runs until a context ends, and is closed in order.
//
//	n, err := node.Open(ctx, cfg)   // locks the data directory, binds the ports
//	err = n.Run(ctx)                // serves until ctx ends
//	err = n.Close()
//
// OpenLocal opens a node without listeners, which answers the CLI if no server runs: the same
// methods on the same data directory, except that each question first catches up with the log.
//
// A caller may rely on the following. Only one process uses a data directory at a time. An error of
// Open names the field or flag to change, and nothing stays open. After a crash at any moment the
// next Open continues from what is durable; what the projections lack they read from the log again.
//
// # The data directory
//
//	recount.json    its format and id, which make the folder a data directory
//	LOCK            locked while a process uses the directory
//	endpoints.json  the addresses of the running node; a crash leaves it behind
//	log/            the embedded log (pipeline/broker)
//	projections/    the projections' generations (projections)
//	checkpoints/    the position in the derived topic of a process that only projects
//	scratch/        the replayed state of verify; removed at the next Open
package node
