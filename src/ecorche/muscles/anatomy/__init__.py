"""From a folder of muscles, bones and attachment sites to muscles on action lines, without a mouse."""
