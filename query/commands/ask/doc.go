// Package ask holds what the questions about commands are asked and what they answer. A client needs
// these types but not the projections that the answer is computed from, so this package imports none of
// them: a program that asks a server stays small (decisions 108 and 128). Package commands has them under
// the same names.
package ask
