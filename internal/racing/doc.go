// Package racing lets tests be smaller under the race detector, which makes code ten
// times slower and looks for what has nothing to do with sizes.
package racing
