// Package hitview draws the hits of find. It imports no projection, as package ask does not.
package hitview
