package sasl

// Session returns the current rights of a client that Options.Login admitted. It is called at
// each request, so that revoked rights end at once; an error ends the connection.
type Session func() (Rights, error)

// Rights are the operations that a client may use.
type Rights struct {
	// Everything permits all operations.
	Everything bool
	// Append reports whether the client may append to a topic and see its partitions. Nil permits
	// none. Reading, groups and administration always require Everything.
	Append func(topic string) bool
}
