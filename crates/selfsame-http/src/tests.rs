mod nodes;
