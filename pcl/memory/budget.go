package memory

// SetBudget changes the budget. If it becomes smaller, the store is thinned out at once, since a method that fills the
// store itself would never do so: the first samples of each task and class stay, which are the preferred ones where they
// are ranked.
func (s *Store) SetBudget(budget int) error {
	c := Config{Policy: s.config.Policy, Budget: budget}
	if err := c.Validate(); err != nil {
		return err
	}
	smaller := budget < s.config.Budget
	s.config = c
	if smaller && len(s.items) > 0 {
		s.keep(s.items, first)
	}
	return nil
}
