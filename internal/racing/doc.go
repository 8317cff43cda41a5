// Package racing lets tests use smaller inputs under the race detector, which makes code ten times
// slower and finds errors that do not depend on sizes.
package racing
