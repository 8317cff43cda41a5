// Package diagram writes boxes and arrows for Graphviz and Mermaid.
package diagram
