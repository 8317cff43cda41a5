// Package evidence answers questions over the objects of agents with evidence: what was
// said, done and learned, what led to it, what took its place, and by which events that
// is known.
package evidence
